package handler

import (
	"context"
	"log/slog"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/member"
	"github.com/evenkeel-go/evenkeel/internal/offset"
)

// A topic that was deleted and created again has another log under its name. A claim that is held then has its start committed
// (consumer/topics.go). Where that is refused, for the group rebalances, or no claim is held, the commit of the old log stays, and sarama
// goes on there in the new one. Our stamp in it tells: it is one of those that were written before we heard of the new topic.

// replacement is when a topic has become another one: all our stamps up to this count are of the one before, those after it of the new one.
type replacement struct {
	count int64
	heard time.Time
}

// topicReplaced ends the chains of a topic that has become another one under its name, and remembers that it has.
func (o *ownership) topicReplaced(topic string) {
	for _, c := range o.cutOff(topic) {
		if c.lingering != nil {
			c.lingering.moved()
		}
	}
}

func (o *ownership) cutOff(topic string) (ended []chain) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	o.replaced[topic] = replacement{count: max(o.count, now.Unix()), heard: now}
	for key, c := range o.chains {
		if key.Topic == topic {
			ended = append(ended, *c)
			delete(o.chains, key)
		}
	}
	return ended
}

// nextCount is the count of a new stamp of ours. It is seeded with the time, so that it rises even where the group's offsets were deleted
// in between, and it tells a topic from the one before.
func (o *ownership) nextCount(topic string, found offset.Stamp) int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := max(found.Count+1, time.Now().Unix(), o.replaced[topic].count+1)
	o.count = max(o.count, n)
	return n
}

func (o *ownership) replacementOf(topic string) (r replacement, known bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r, known = o.replaced[topic]
	return r, known
}

// staleFor is how long after a topic was replaced a claim that begins beyond the commit is taken for one that begins at an old commit: a
// coordinator that has just taken over may have told sarama of it.
const staleFor = time.Minute

// ofTheOldTopic says that a commit is one of ours, of a topic that is another one by now.
func (l *loop) ofTheOldTopic(s offset.Stamp) bool {
	r, known := l.heard.replacementOf(l.key.Topic)
	return known && s.Owner == l.pool.owner && s.Count <= r.count
}

func (l *loop) justReplaced() bool {
	r, known := l.heard.replacementOf(l.key.Topic)
	return known && !l.account.bare && time.Since(r.heard) < staleFor
}

// beginAtOnce is for a claim that may begin at a commit of the old topic: the new one may have nothing beyond it for long.
func (l *loop) beginAtOnce() {
	at := l.source.InitialOffset()
	if _, replaced := l.heard.replacementOf(l.key.Topic); !l.first || l.account.bare || at <= 0 || !replaced {
		return
	}
	l.first = false
	l.begin(at)
	if l.open {
		l.deliverAside()
	}
}

// leaveOld looks whether the claim begins where the old topic had a commit, and ends the session where it does, with the start committed.
// sarama does not begin a claim anew. A claim for which it knew of no commit has only to forget the old one.
func (l *loop) leaveOld(known int64, stored *member.Position, state *offset.State) (left bool) {
	old, stale := l.ofTheOldTopic(state.Stamp), known > stored.Offset && l.justReplaced()
	switch {
	case known > 0 && (old || stale && stored.Offset < 0): // brokers forget the commits of a topic that is deleted
		l.startAnew()
	case known > 0 && stale:
		l.endSession()
	case old:
		*stored, *state = member.Position{Offset: -1}, offset.State{}
		return false
	default:
		return false
	}
	return true
}

// startAnew commits the start, with the generation of this claim.
func (l *loop) startAnew() {
	done, ctx := false, l.beforeDoubt()
	l.meanwhile(func() {
		if done = l.store(ctx, member.Position{}); done {
			l.sleep(gathering)
		}
	})
	switch {
	case l.intake.Err() != nil:
		l.open = false // the next claim begins there, or looks again
	case done:
		l.endSession()
	case l.doubt() == 0:
		l.open = false // the membership is lost
	}
}

// gathering is how long a session goes on after the start of a partition was committed: other partitions of the topic have theirs committed
// meanwhile, and it ends for all of them once.
const gathering = 500 * time.Millisecond

func (l *loop) endSession() {
	l.logger.LogAttrs(context.Background(), slog.LevelInfo,
		"the commit of the partition was of a topic that has been deleted and created again: the session ends, and the next one begins at the start")
	l.open = false
	if own, ok := l.group.(member.Session); ok {
		own.Restart(l.key.Topic)
	}
}

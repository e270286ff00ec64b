package handler

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/member"
	"github.com/evenkeel-go/evenkeel/internal/offset"
)

// begin finds out where the partition stands, before its first message is handled, and takes it over: whoever starts something on it
// has written a stamp of its own into the commit before. Where a generation is missed meanwhile it begins again: what was read may be of
// before another owner's time.
func (l *loop) begin(first int64) {
	for l.open && !l.account.begun {
		select {
		case <-l.doubted: // the answer is read anyway
		default:
		}
		l.trust(l.doubt())
		l.beginAt(first)
	}
}

func (l *loop) beginAt(first int64) {
	known := l.source.InitialOffset()
	if known < 0 {
		l.startsAt(first)
	}
	stored, err := l.readCommit(func(p member.Position) bool { return p.Offset >= known })
	if l.intake.Err() != nil {
		l.open = false
		return // revoked meanwhile: the answer may say no more than that
	}
	if err != nil {
		l.logger.LogAttrs(context.Background(), slog.LevelWarn, "the partition's commit could not be read: nothing starts there", attrError(err))
		l.open = false
		return
	}
	state, _ := offset.Decode(stored.Metadata, stored.Offset) // what is not ours has no map
	if l.leaveOld(known, &stored, &state) {
		return
	}
	start := l.startOf(known, first, stored.Offset)
	if state.Next > start {
		state.Finished = nil // of messages that are no longer there
	}
	l.account.open(start, state.Finished, l.pool.keys.order != ByPartition)
	l.lineup.follow(l.account.track != nil)
	l.giveWay(state)
	l.own(state.Stamp, known < 0)
}

// readCommit is lookUp while the claim receives.
func (l *loop) readCommit(recent func(member.Position) bool) (stored member.Position, err error) {
	l.meanwhile(func() { stored, err = l.lookUp(recent) })
	return stored, err
}

// lookUp reads the commit, and again where the answer may be an old one: see startOf.
func (l *loop) lookUp(recent func(member.Position) bool) (stored member.Position, err error) {
	for range staleTries {
		stored, err = l.committer.Committed(l.intake)
		if err != nil || recent(stored) || l.account.bare {
			break
		}
		l.sleep(stalePause)
	}
	return stored, err
}

const (
	staleTries = 20
	stalePause = 100 * time.Millisecond
)

// startOf is where the claim starts. sarama knows of no commit, and says so by a negative offset, when there is none, when the one
// there is lies outside the log, so that messages are lost, or when it was told wrong: a coordinator that has just taken over may say
// for a moment that nothing was committed, or an older offset, without an error (seen up to 1 s on Kafka 4.4). What lies before the
// commit is done then, and committing anything lower would forget it.
func (l *loop) startOf(known, first, committed int64) int64 {
	start := max(known, 0)
	if known < 0 {
		start = first
	}
	switch {
	case committed > start && committed <= l.logEnd:
		l.logger.LogAttrs(context.Background(), slog.LevelInfo, "the commit of the partition was found late: going on there", attrCommitted(committed))
		l.startsAt(committed)
		return committed
	case known < 0 && committed >= 0 && committed != first:
		l.tellGap(committed, first)
	}
	return start
}

// handOver is how long a member waits that takes a partition over whose last owner let tasks go on, for it may have lost the partition
// only now: both hear of it at about the same time, and the tasks take a moment to return when they are cancelled.
const handOver = 250 * time.Millisecond

func (l *loop) giveWay(state offset.State) {
	running := slices.ContainsFunc(state.More, func(s offset.Section) bool { return s.Tag == runningTag })
	if !running || state.Stamp.Owner == l.pool.owner {
		return
	}
	l.meanwhile(func() { l.sleep(handOver) })
}

// sleep waits, though no longer than until the partition is revoked.
func (l *loop) sleep(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-l.intake.Done():
	}
}

// own stamps the partition as ours. A partition that still has our stamp needs none. A group without a commit there gets its start
// committed in any case: a member that dies in its first task must not leave the choice to the next one's Offsets.Initial.
func (l *loop) own(found offset.Stamp, unknown bool) {
	own := l.pool.owner
	l.account.stamp = found
	if found.Owner != own {
		l.account.stamp = offset.Stamp{Owner: own, Count: l.heard.nextCount(l.key.Topic, found)}
	}
	if l.account.bare && !unknown || !unknown && found.Owner == own {
		l.account.begun = true
		return
	}
	l.lastCommit = l.pool.now()
	start, ctx := l.account.position(), l.beforeDoubt()
	l.meanwhile(func() { l.account.begun = l.store(ctx, start) })
	if !l.account.begun && l.doubt() == 0 {
		l.open = false // revoked, or the membership is lost: nothing starts
	}
}

// store stores the stamp, and says whether it is. Nothing starts before: whoever had the partition last would take its own stamp for the
// latest one. What the broker refuses may be mended there.
func (l *loop) store(ctx context.Context, start member.Position) bool {
	for told := false; ; told = true {
		err := l.committer.Store(ctx, start)
		if err == nil {
			return true
		}
		if ctx.Err() != nil || errors.Is(err, sarama.ErrUnknownMemberId) || errors.Is(err, sarama.ErrFencedInstancedId) {
			return false
		}
		if !told {
			l.logger.LogAttrs(context.Background(), slog.LevelError,
				"the broker refuses the commit that marks the partition as ours: nothing starts there before it is stored, which is tried again every 2 s", attrError(err))
		}
		l.sleep(refusedPause)
	}
}

// refusedPause is how long to wait before a refused stamp is sent again.
const refusedPause = 2 * time.Second

// startsAt is for those who look at the status.
func (l *loop) startsAt(offset int64) {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	l.view.start = offset
}

// afterReset looks at the first message of a claim that has taken an account over and for which sarama knew of no commit.
func (l *loop) afterReset(first int64) {
	l.account.reset = false
	if l.account.lacks(first) {
		l.tellGap(l.account.committable(), first)
	}
}

func (l *loop) tellGap(committed, first int64) {
	l.logger.LogAttrs(context.Background(), slog.LevelWarn,
		"the committed offset no longer exists on the partition: going on at the first message there is",
		attrCommitted(committed), attrOffset(first), attrMissed(max(0, first-committed)))
	l.pool.hooks.missed(Gap{Claim: l.key, Committed: committed, First: first})
}

// plainSession says that nothing can be read of a commit but its offset.
func plainSession(c member.Committer) bool {
	_, plain := c.(*marks)
	return plain
}

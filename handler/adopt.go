package handler

import (
	"context"
	"log/slog"
	"slices"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/member"
)

// adopt takes over the tasks that go on since the claim before, whether or not the broker delivers their messages again. It does
// nothing when the partition is revoked before it is proven that nobody else had it: they go on then, for the next claim.
func (l *loop) adopt(old *loop) {
	stamp := l.heard.stampOf(l.key)
	stored, err := l.readCommit(func(p member.Position) bool { return stampOf(p) == stamp })
	if l.intake.Err() != nil {
		l.open = false
		return
	}
	why := l.heard.doubt(l, stored, err)
	close(old.recalled)
	<-old.lingered
	if !l.succeed(old, why) {
		old.seeOff()
		l.block()
	}
	l.beginAside()
}

// succeed makes this loop go on where the old one was, and says whether it does.
func (l *loop) succeed(old *loop, why error) bool {
	if old.givenUp() {
		return false
	}
	if why != nil {
		l.tellRefusal(old, why)
		old.abandon(lostBy(why))
		return false
	}
	return l.inherit(old)
}

func (l *loop) tellRefusal(old *loop, why error) {
	var text string
	switch {
	case old.flying():
		text = "the partition has come back, but its running tasks cannot be taken over: they are cancelled and run again"
	case old.unanswered:
		text = "the partition has come back, but what had finished and was not committed cannot be taken over: it runs again"
	default:
		return // the commit says it all
	}
	l.logger.LogAttrs(context.Background(), slog.LevelWarn, text, attrError(why))
}

// inherit moves what the old loop has to this one. The old one's goroutine has ended. It returns false when the partition has gone
// elsewhere just now.
func (l *loop) inherit(old *loop) bool {
	l.lineup.follow(old.account.track != nil)
	inHand, n, ok := l.takeTasks(old)
	if !ok {
		return false
	}
	l.takeAccount(old, inHand)
	l.heard.forget(old)
	if n > 0 {
		l.logger.LogAttrs(context.Background(), slog.LevelInfo, "running tasks are taken over from the claim before", slog.Int("tasks", n))
	}
	l.exchange()
	return true
}

// takeTasks takes the tasks over, and returns their messages and how many run. What was set aside meanwhile counts beside them.
func (l *loop) takeTasks(old *loop) (inHand map[int64]*sarama.ConsumerMessage, n int, ok bool) {
	p := l.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if old.left {
		return nil, 0, false
	}
	inHand = p.adoptLocked(l.claim, old.claim)
	held, bytes := l.carriesLocked()
	l.backlog, l.bytes = l.backlog+held+l.claim.ended.n, l.bytes+bytes+l.claim.ended.bytes
	return inHand, l.flight, true
}

func (l *loop) takeAccount(old *loop, inHand map[int64]*sarama.ConsumerMessage) {
	l.first = false
	l.account, old.account = old.account, account{}
	l.account.running, l.account.inHand, l.account.seen, l.account.latest = false, inHand, 0, -1
	l.account.anew = l.account.track != nil
	l.account.reset = !l.account.bare && l.source.InitialOffset() < 0
	l.account.dirty = true // the text says that tasks run without a claim
	l.finished.Store(l.account.committable())
	l.startsAt(l.account.committable())
}

// block holds starts back while tasks of an earlier claim run that were given up.
func (l *loop) block() {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	l.pool.blockLocked(l.claim)
}

// disown gives up an adopted task whose message is another one now: the log was replaced under its offset. Its result counts for
// nothing, and the message waits until the task has returned where their order counts.
func (l *loop) disown(mine, m *sarama.ConsumerMessage) {
	l.logger.LogAttrs(context.Background(), slog.LevelError,
		"another message has come at the offset of a running task: the task is cancelled and its result will be dropped", attrOffset(m.Offset))
	l.backlog--
	l.bytes -= int64(size(mine))
	if l.dropRetry(m.Offset) {
		return
	}
	l.pool.mu.Lock()
	l.dropResultLocked(mine)
	running := l.disownLocked(m.Offset)
	l.pool.mu.Unlock()
	if running != nil {
		running.call.Cancel(ErrLost)
	}
}

// disownLocked finds the running task of an offset.
func (c *claim) disownLocked(o int64) (found *Task) {
	for r := c.active; r != nil; r = r.after {
		if r.done < r.n && r.task(r.n-1).Offset == o {
			r.disowned, found = true, r.task(r.n-1)
		}
	}
	return found
}

// dropResultLocked drops the result of a task that has just ended, and that the loop has not taken over yet.
func (c *claim) dropResultLocked(m *sarama.ConsumerMessage) {
	if i := slices.IndexFunc(c.failed, func(f *failure) bool { return f.task.Offset == m.Offset }); i >= 0 {
		c.lineup.dropFailed(c.failed[i])
		c.failed = slices.Delete(c.failed, i, i+1)
		return
	}
	e := &c.ended
	if i := slices.Index(e.offsets, m.Offset); i >= 0 {
		e.offsets = slices.Delete(e.offsets, i, i+1)
	} else if e.n != 1 || e.next != m.Offset+1 {
		return
	}
	e.n--
	e.bytes -= int64(size(m))
	c.pool.counts.Succeeded--
	c.pool.counts.Strays++
}

// dropRetry takes a failed task out that waits for its next attempt.
func (l *loop) dropRetry(o int64) bool {
	i := slices.IndexFunc(l.again, func(f *failure) bool { return f.task.Offset == o })
	if i < 0 {
		return false
	}
	l.pool.mu.Lock()
	l.lineup.dropFailed(l.again[i])
	l.waiting--
	l.pool.mu.Unlock()
	l.again = slices.Delete(l.again, i, i+1)
	return true
}

// sameMessage compares a message that is delivered again with the one that a task has: the log may have been replaced under its offset.
func sameMessage(a, b *sarama.ConsumerMessage) bool {
	return a.Timestamp.Equal(b.Timestamp) && string(a.Key) == string(b.Key) && len(a.Value) == len(b.Value)
}

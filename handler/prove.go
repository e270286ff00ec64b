package handler

import (
	"context"
	"log/slog"

	"github.com/evenkeel-go/evenkeel/internal/member"
)

// A cooperative session lives on when its member misses a generation, and so do its claims. A leader lets others have what a member
// reports as owned only when that has let it go; but not each one does: by a comment in sarama's consumer_group_cooperative.go, Java's up
// to 3.3 do not wait for a member that reports an older generation. Whoever had the partition then has left another stamp, or none.

// askForProof tells the loop that a generation was missed, and that this is the one after it. Nothing starts, and nothing is committed,
// until it has looked.
func (l *loop) askForProof(generation int32) {
	if plainSession(l.committer) {
		return
	}
	l.pool.mu.Lock()
	l.claim.doubtful = generation
	if l.interrupt != nil {
		l.interrupt()
	}
	for r := l.active; r != nil; r = r.after {
		r.cutLocked()
	}
	l.pool.mu.Unlock()
	select {
	case l.doubted <- struct{}{}:
	default:
	}
}

// prove looks for another owner's stamp, and gives the claim up where there is one: nothing more is committed then. A claim that has not
// begun yet looks when it does.
func (l *loop) prove() {
	generation := l.doubt()
	if l.account.begun {
		switch stored, err := l.readCommit(l.isOurs); {
		case l.intake.Err() != nil:
			l.open = false
		case err != nil:
			l.giveAway(errUnread)
		case !l.isOurs(stored):
			l.giveAway(errStamp)
		}
	}
	if !l.open {
		return
	}
	l.trust(generation)
	l.exchange()
	l.deliverAside()
}

// doubt is the generation after a missed one, 0 for no doubt.
func (l *loop) doubt() int32 {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	return l.claim.doubtful
}

// trust ends a doubt, unless there is a newer one by now.
func (l *loop) trust(generation int32) {
	if generation == 0 {
		return
	}
	l.committer.Trust(generation)
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	if l.claim.doubtful == generation {
		l.claim.doubtful = 0
	}
}

// beforeDoubt is a context that ends with the intake, or when a generation is missed.
func (l *loop) beforeDoubt() context.Context {
	ctx, cancel := context.WithCancel(l.intake)
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	if l.interrupt = cancel; l.claim.doubtful != 0 {
		cancel()
	}
	return ctx
}

func (l *loop) isOurs(p member.Position) bool { return stampOf(p) == l.account.stamp }

func (l *loop) giveAway(why error) {
	l.logger.LogAttrs(context.Background(), slog.LevelWarn,
		"a generation of the group was missed, and the partition had another owner in it: its tasks are cancelled and run again", attrError(why))
	l.dispossess, l.mute, l.open = why, true, false
}

package handler

import (
	"context"
	"log/slog"

	"github.com/evenkeel-go/evenkeel/internal/member"
)

// A cooperative session lives on when its member misses a generation, and so do its claims. A leader lets others have what a member
// reports as owned only when that has let it go; but not each one does: by a comment in sarama's consumer_group_cooperative.go, Java's up
// to 3.3 do not wait for a member that reports an older generation. Whoever had the partition then has left another stamp, or none.

// askForProof tells the loop that a generation was missed. Nothing starts until it has looked.
func (l *loop) askForProof() {
	if l.account.bare {
		return
	}
	l.pool.mu.Lock()
	l.claim.doubtful = true
	for r := l.active; r != nil; r = r.after {
		r.cutLocked()
	}
	l.pool.mu.Unlock()
	select {
	case l.doubted <- struct{}{}:
	default:
	}
}

// prove looks for another owner's stamp, and gives the claim up where there is one: nothing more is committed then.
func (l *loop) prove() {
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
	l.pool.mu.Lock()
	l.claim.doubtful = false
	l.pool.mu.Unlock()
	l.exchange()
	l.deliverAside()
}

func (l *loop) isOurs(p member.Position) bool { return stampOf(p) == l.account.stamp }

func (l *loop) giveAway(why error) {
	l.logger.LogAttrs(context.Background(), slog.LevelWarn,
		"a generation of the group was missed, and the partition had another owner in it: its tasks are cancelled and run again", attrError(why))
	l.dispossess, l.mute, l.open = why, true, false
}

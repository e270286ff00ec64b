package handler_test

import (
	"context"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
)

// Where the commit was answered while the account lingered, nothing runs again, and nobody is told so.
func TestNobodyIsToldOfWhatWasAnswered(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		r := begin(t, options(t), false, deaf(time.Minute), "a")
		answered := false
		r.member.settle = func(ctx context.Context) error {
			if answered {
				return nil
			}
			<-ctx.Done()
			return context.Cause(ctx)
		}
		time.Sleep(2 * time.Minute)
		r.endSession(sarama.ErrRebalanceInProgress)
		answered = true // stored a moment later, as it is committed in the fake
		time.Sleep(time.Minute)
		r.member.id = "m-2" // the broker made a new member of it
		r.member.session.id = "m-2"
		r.assign(0)
		r.start()
		time.Sleep(10 * time.Minute)
		r.wantStarted(0)
		if told := r.logs.with("level=WARN"); len(told) > 0 {
			t.Errorf("nothing runs again, and the log says %v", told)
		}
		r.group.end()
	})
}

// A key function that calls Goexit takes the goroutine of the claim along, and what the claim holds is let go.
func TestAGoexitInTheKeyFunctionLeavesNothingBehind(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		o := ordered(t, handler.ByKey, 2)
		o.Key = func(*sarama.ConsumerMessage) []byte {
			runtime.Goexit()
			return nil
		}
		g, m, c := claimAt(t, o, nothing, 1, 0, "")
		released := false
		m.release = func(context.Context) { released = true }
		<-g.consumeIn(m, c)
		synctest.Wait()
		held, _, _, _ := g.Leftovers()
		if n := g.Entries(); n != 0 || held != 0 || !released {
			t.Errorf("entries %d, held %d, released %v", n, held, released)
		}
		g.end()
	})
}

// The membership is over, and the partition comes back under the same member id while the lingering loop is busy: it finds the end and its
// recall at once. Tasks that were cancelled are run again, whichever it sees first.
func TestCancelledTasksAreNotTakenOver(t *testing.T) {
	for range 30 {
		inVirtualTime(t, func(t *testing.T) {
			o := ordered(t, handler.None, 2)
			r := begin(t, o, false, func(ctx context.Context, m *handler.Task) error {
				if m.Offset == 0 {
					return deaf(2*time.Minute)(ctx, m)
				}
				err := obedient(time.Hour)(ctx, m)
				if err != nil {
					time.Sleep(5 * time.Second) // to clean up
				}
				return err
			}, "a", "b")
			time.Sleep(time.Minute)
			r.endSession(sarama.ErrRebalanceInProgress)
			r.before.slowMarks(time.Second)
			time.Sleep(time.Minute + time.Second/2) // the lingering loop is at the commit of 0
			old := r.member
			r.member = newMemberSession() // a new tenure under the same id
			r.member.session = r.s
			r.member.stored, r.member.text = old.stored, old.text
			old.stopWork(handler.ErrLost)
			r.assign(0)
			r.start()
			time.Sleep(10 * time.Hour)
			synctest.Wait()
			if got := r.s.committed(0); got != 2 {
				t.Errorf("committed %d after ten hours, started %v, %+v", got, r.seen.all(), r.Status())
			}
			r.group.end()
		})
	}
}

// slowLog takes a minute for one kind of entry.
type slowLog struct{ slog.Handler }

func (slowLog) Enabled(context.Context, slog.Level) bool { return true }

func (h slowLog) WithAttrs([]slog.Attr) slog.Handler { return h }

func (h slowLog) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "was given up has returned") {
		time.Sleep(time.Minute)
	}
	return nil
}

// A runner tells of a stray before it takes its next run: a run that is taken and does not start may be closed, adopted and cut to nothing.
func TestARunnerTellsBeforeItTakesMore(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		o := ordered(t, handler.None, 2)
		o.Logger = slog.New(slowLog{slog.DiscardHandler})
		r := &rejoining{group: &group{t: t, s: newSession(), logs: &logBook{}}, t: t}
		h, err := handler.New(handler.Func(func(ctx context.Context, m *handler.Task) error {
			r.seen.add(m.Offset)
			if m.Partition == 1 {
				return deaf(10*time.Minute)(ctx, m)
			}
			return obedient(time.Hour)(ctx, m)
		}), o)
		if err != nil {
			t.Fatal(err)
		}
		r.GroupHandler = h
		r.strategy = h.BalanceStrategies()[0].(sarama.OnAssignmentBalanceStrategy)
		for i := range 2 {
			r.log = append(r.log, &sarama.ConsumerMessage{Topic: topic, Offset: int64(i), Key: []byte("k"), Value: []byte("v")})
		}
		r.member = newMemberSession()
		r.group.s = r.member.session
		r.assign(0, 1)
		other := newClaim(1, 1)
		gone := r.consumeIn(r.member, other)
		synctest.Wait()
		r.start() // one slot is left for two messages
		r.assign(0)
		close(other.messages) // partition 1 is revoked: its task is a stray
		<-gone
		time.Sleep(10*time.Minute - time.Second)
		synctest.Wait()
		time.Sleep(10 * time.Second) // the stray has returned, and its runner is at the log, with a run of partition 0
		r.replace(func(m *sarama.ConsumerMessage) { m.Value = []byte("new") })
		r.rejoin()
		time.Sleep(5 * time.Hour)
		r.wantCommitted(0, 2)
		r.group.end()
	})
}

// While one task goes on from claim to claim, no claim keeps the ones before.
func TestClaimsOfALongTaskDoNotPileUp(t *testing.T) {
	for _, plain := range []bool{false, true} {
		inVirtualTime(t, func(t *testing.T) {
			r := begin(t, ordered(t, handler.None, 4), plain, deaf(100_000*time.Hour), "a")
			r.logs.quiet = true
			for range 50 {
				time.Sleep(5 * time.Second)
				r.rejoin()
			}
			heap := liveHeap()
			for range 500 {
				time.Sleep(5 * time.Second)
				r.rejoin()
			}
			if grown := int64(liveHeap()) - int64(heap); grown > 500*400+200_000 {
				t.Errorf("plain %v: the heap grew by %d bytes over 500 rebalances", plain, grown)
			}
			if n := r.seen.count(); n != 1 {
				t.Errorf("%d starts", n)
			}
			time.Sleep(100_000 * time.Hour)
			r.group.end()
		})
	}
}

// A partition goes and comes back within a moment, five times, and its task is deaf: nothing overlaps, in any order.
func TestAPartitionThatGoesAndComesBackAtOnce(t *testing.T) {
	eachKind(t, func(t *testing.T, order handler.Order, plain bool) {
		var mu sync.Mutex
		running := map[int64]int{}
		r := begin(t, ordered(t, order, 5), plain, func(ctx context.Context, m *handler.Task) error {
			mu.Lock()
			running[m.Offset]++
			if running[m.Offset] > 1 {
				t.Errorf("%d runs twice at once", m.Offset)
			}
			mu.Unlock()
			time.Sleep(20 * time.Minute)
			mu.Lock()
			running[m.Offset]--
			mu.Unlock()
			return nil
		}, "a", "b", "a", "b")
		for range 5 {
			time.Sleep(time.Minute)
			r.endSession(sarama.ErrRebalanceInProgress)
			r.assign(1)
			r.assign(0)
			r.start()
		}
		time.Sleep(10 * time.Hour)
		synctest.Wait()
		r.wantCommitted(0, 4)
		if s := r.Status(); s.Stray != 0 || s.Kept != 0 || s.Running != 0 || s.Claims[0].Backlog != 0 {
			t.Errorf("%+v", s)
		}
		r.group.end()
	})
}

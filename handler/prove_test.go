package handler_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/offset"
)

// E3: a claim that goes on through a missed generation, as one of a cooperative session does, looks whether somebody else has had the
// partition. Then it is lost, and nothing is committed over the other one's progress; else it goes on. Meanwhile nothing starts.
func TestAMissedGenerationUnderAClaim(t *testing.T) {
	for name, test := range map[string]struct {
		text   string // of the commit then
		unread error
		lost   bool
	}{
		"nobody has had it": {"", nil, false},
		"somebody has":      {"consumer-1@host", nil, true},
		"nobody knows":      {"", sarama.ErrGroupAuthorizationFailed, true},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				var cause error
				r := begin(t, ordered(t, handler.None, 2), false, func(ctx context.Context, m *handler.Task) error {
					if m.Offset != 1 {
						return deaf(time.Minute)(ctx, m)
					}
					select {
					case <-ctx.Done():
						cause = context.Cause(ctx)
					case <-time.After(2 * time.Hour):
					}
					return nil
				}, "a", "b", "c")
				r.member.stored, r.member.text = 0, r.s.lastText()
				if test.text != "" {
					r.member.text = test.text
				}
				if test.unread != nil {
					r.member.unread = []error{test.unread}
				}
				r.member.ask = func(context.Context) { time.Sleep(90 * time.Second) }
				r.s.next()
				r.assign(0)
				time.Sleep(time.Minute + time.Second)
				if n := r.seen.count(); n != 2 || len(r.member.trust()) > 0 { // in any order
					t.Errorf("%d starts before anybody knew, and commits may carry generation %v", n, r.member.trust())
				}
				time.Sleep(40 * time.Minute)
				synctest.Wait()
				if lost := errors.Is(cause, handler.ErrLost); lost != test.lost {
					t.Errorf("cancelled with %v", cause)
				}
				if trusted := len(r.member.trust()) > 0; trusted == test.lost {
					t.Errorf("commits may carry generation %v", r.member.trust())
				}
				want := map[bool]int64{true: 0, false: 1}[test.lost]
				r.wantCommitted(0, want)
				if n := r.seen.count(); n != 2+int(want) {
					t.Errorf("%d starts", n)
				}
				time.Sleep(3 * time.Hour)
				r.assign(1)
				r.group.end()
			})
		})
	}
}

// Who has had the partition in a generation that is missed while a claim begins may have gone on and left its stamp: what was read before
// says nothing. The claim reads again.
func TestAClaimBeginsAgainWhereAGenerationIsMissedMeanwhile(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		texts := func(owner uint64, count, next int64) string {
			return offset.State{Stamp: offset.Stamp{Owner: owner, Count: count}, Next: next}.Encode(4096)
		}
		g, m, c := claimAt(t, ordered(t, handler.None, 1), nothing, 6, 1, texts(7, 7, 1))
		later := time.Now().Unix() + 1_000 // of another clock
		calls := 0
		m.store = func(context.Context) {
			if calls++; calls == 1 {
				m.stored, m.text = 3, texts(9, later, 3)
				g.s.next()
				g.assign(0)
			}
		}
		g.assign(0)
		g.consumeIn(m, c)
		time.Sleep(time.Minute)
		if got := slices.Sorted(slices.Values(g.seen.all())); !slices.Equal(got, []int64{3, 4, 5}) {
			t.Errorf("started %v", got)
		}
		if s := stampIn(t, m, g.s.committed(0)); g.s.committed(0) != 6 || calls != 2 || s.Owner == 9 || s.Count <= later || !slices.Equal(m.trust(), []int32{g.s.GenerationID()}) {
			t.Errorf("committed %d, %d stamps, %+v after count %d, trusted %v", g.s.committed(0), calls, s, later, m.trust())
		}
		g.end()
	})
}

// trust is up to which generations commits were trusted, in turn.
func (m *memberSession) trust() []int32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.trusted)
}

// A second generation is missed while the claim looks what became of the first: what was asked before says nothing of it.
func TestASecondDoubtDuringTheProofOfTheFirst(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		foreign := offset.State{Stamp: offset.Stamp{Owner: 1, Count: 5}}.Encode(4096)
		r := begin(t, ordered(t, handler.None, 2), false, func(ctx context.Context, m *handler.Task) error {
			if m.Offset == 0 {
				return deaf(time.Minute)(ctx, m)
			}
			return obedient(10*time.Hour)(ctx, m)
		}, "a", "b", "c", "d")
		r.member.stored, r.member.text = 0, r.s.lastText()
		calls := 0
		r.member.ask = func(context.Context) {
			if calls++; calls <= 2 {
				time.Sleep(90 * time.Second)
			}
			if calls == 2 {
				r.member.text = foreign // somebody has had it in the second one
			}
		}
		r.s.next()
		r.assign(0) // one generation was missed
		time.Sleep(80 * time.Second)
		if n := r.seen.count(); n != 2 {
			t.Fatalf("%d starts", n)
		}
		r.s.next()
		r.assign(0) // and another one: somebody has the partition by now
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := r.seen.count(); n != 2 {
			t.Errorf("%d starts, want 2: %v started although nobody has looked since the second missed generation", n, r.seen.all())
		}
		time.Sleep(time.Hour)
		r.assign(1)
		r.group.end()
	})
}

// slowEnd is a hook that takes its time after the first message.
type slowEnd struct{}

func (slowEnd) OnTaskEnd(e handler.TaskEnd) {
	if e.Message.Offset == 0 {
		time.Sleep(time.Minute)
	}
}

// G6: a runner whose run has ended is still at a hook when the claim hears of a missed generation. There is nothing to take back of its run,
// and another runner has the partition by now.
func TestARunThatIsOverLetsNothingGo(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		o := ordered(t, handler.ByPartition, 4)
		o.Hooks = []any{slowEnd{}}
		var mu sync.Mutex
		running, most := 0, 0
		r := begin(t, o, false, func(ctx context.Context, m *handler.Task) error {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			if m.Offset == 1 {
				time.Sleep(time.Hour)
			}
			mu.Lock()
			running--
			mu.Unlock()
			return nil
		}, "a")
		r.member.stored, r.member.text = 0, r.s.lastText()
		for o := range int64(3) {
			r.claim.messages <- &sarama.ConsumerMessage{Topic: topic, Offset: 1 + o, Value: []byte("v")}
		}
		time.Sleep(10 * time.Second) // 0 has ended, and is at the hook; 1 runs
		r.s.next()
		r.assign(0) // a generation was missed, and nobody else has had the partition
		time.Sleep(10 * time.Second)
		synctest.Wait()
		mu.Lock()
		worst := most
		mu.Unlock()
		if worst > 1 {
			t.Errorf("%d tasks of the partition at once, started %v; committed %d while 1 runs", worst, r.seen.all(), r.s.committed(0))
		}
		time.Sleep(3 * time.Hour)
		r.group.end()
	})
}

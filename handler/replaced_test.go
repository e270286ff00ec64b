package handler_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
)

// replace puts another message at offset 0 of the log, as an election of a replica that lagged behind does.
func (r *rejoining) replace(change func(m *sarama.ConsumerMessage)) {
	other := *r.log[0]
	change(&other)
	r.log[0] = &other
}

// Another message at the offset of an adopted task runs once that task has returned where their order counts, and the task's own result
// is dropped, told and counted, whatever it is and whoever listens.
func TestAnotherMessageAtTheOffsetRuns(t *testing.T) {
	changes := []func(m *sarama.ConsumerMessage){
		func(m *sarama.ConsumerMessage) { m.Timestamp = m.Timestamp.Add(time.Second) },
		func(m *sarama.ConsumerMessage) { m.Value = []byte("longer") },
		func(m *sarama.ConsumerMessage) { m.Key = []byte("other") },
	}
	eachKind(t, func(t *testing.T, order handler.Order, plain bool) {
		for i, change := range changes {
			for _, result := range []error{nil, errTask} {
				var heard taskEnds
				o := ordered(t, order, 2)
				if i == 1 {
					o.Hooks = []any{&heard}
				}
				r := begin(t, o, plain, func(ctx context.Context, m *handler.Task) error {
					if _ = obedient(time.Hour)(ctx, m); ctx.Err() != nil {
						return result
					}
					return nil
				}, "a", "a")
				time.Sleep(time.Minute)
				r.replace(change)
				r.rejoin()
				time.Sleep(3 * time.Hour)
				if got := slices.Sorted(slices.Values(r.seen.all())); !slices.Equal(got, []int64{0, 0, 1}) {
					t.Errorf("change %d, %v: started %v", i, result, got)
				}
				r.wantCommitted(0, 2)
				s := r.Status()
				if s.Strays != 1 || s.Succeeded != 2 || s.Claims[0].Backlog != 0 || s.Claims[0].Bytes != 0 {
					t.Errorf("change %d, %v: %+v", i, result, s)
				}
				if lines := r.logs.with("its result is dropped"); len(lines) != 1 {
					t.Errorf("change %d, %v: told %v", i, result, lines)
				}
				if i == 1 && !slices.Equal(heard.of(0), []handler.Outcome{handler.Stray, handler.Succeeded}) {
					t.Errorf("hooks heard %v", heard.of(0))
				}
				r.group.end()
			}
		}
	})
}

// The same where the adopted task has failed meanwhile and waits for its next attempt: it is not tried again.
func TestAnotherMessageReplacesARetry(t *testing.T) {
	eachKind(t, func(t *testing.T, order handler.Order, plain bool) {
		o := ordered(t, order, 2)
		o.Retry.Initial, o.Retry.Max = time.Hour, time.Hour
		r := begin(t, o, plain, func(_ context.Context, m *handler.Task) error {
			if string(m.Value) == "v" && m.Offset == 0 {
				time.Sleep(10 * time.Minute)
				return errTask
			}
			return nil
		}, "a", "b")
		time.Sleep(time.Minute)
		r.replace(func(m *sarama.ConsumerMessage) { m.Value = []byte("new") })
		late := r.log
		r.endSession(sarama.ErrRebalanceInProgress)
		r.assign(0)
		r.log = nil // nothing is delivered before the task has failed
		r.start()
		time.Sleep(20 * time.Minute)
		for _, m := range late {
			if m.Offset >= r.from {
				r.claim.messages <- m
			}
		}
		time.Sleep(3 * time.Hour)
		r.wantCommitted(0, 2)
		if s := r.Status(); s.Failed != 1 || s.Succeeded != 2 || s.Claims[0].Backlog != 0 || s.Claims[0].Retrying {
			t.Errorf("%+v", s)
		}
		r.group.end()
	})
}

// The assignment that takes the partition away is heard just as the claim hands its tasks over: they are strays, and nothing of the next
// claim runs beside them.
func TestPartitionThatMovesWhileItsTasksAreKept(t *testing.T) {
	eachKind(t, func(t *testing.T, order handler.Order, plain bool) {
		r := begin(t, ordered(t, order, 4), plain, deaf(time.Hour), "a")
		time.Sleep(time.Minute)
		moved := false
		r.s.mu.Lock()
		r.s.onMark = func() {
			if !moved {
				moved = true
				r.assign(1)
			}
		}
		r.s.mu.Unlock()
		r.endSession(sarama.ErrRebalanceInProgress)
		time.Sleep(time.Minute)
		r.assign(0)
		r.start()
		time.Sleep(30 * time.Minute)
		if n := r.seen.count(); n != 1 {
			t.Errorf("%d runs at once", n)
		}
		time.Sleep(3 * time.Hour)
		if s := r.Status(); s.Strays != 1 || s.Succeeded != 1 || s.Kept != 0 || s.Stray != 0 {
			t.Errorf("%+v", s)
		}
		r.group.end()
	})
}

// A key function may look at the handler, and one that panics keeps the order of what it panics for.
func TestKeyFunctionIsTheUsers(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		o := ordered(t, handler.ByKey, 9)
		var r *rejoining
		o.Key = func(m *sarama.ConsumerMessage) []byte {
			if r != nil {
				_ = r.Status()
			}
			if m.Offset < 2 {
				panic("no key")
			}
			return m.Key
		}
		r = begin(t, o, false, deaf(time.Hour), "a", "b", "c")
		time.Sleep(time.Minute)
		r.wantStarted(0, 2)
		r.rejoin()
		time.Sleep(3 * time.Hour)
		r.wantCommitted(0, 3)
		if lines := r.logs.with("level=ERROR", "the key function panicked"); len(lines) < 2 {
			t.Errorf("told %v", lines)
		}
		r.group.end()
	})
}

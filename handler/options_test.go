package handler_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/handler/retry"
)

// byPointer has a method that looks like a hook's.
type byPointer struct{}

func (*byPointer) OnTaskEnd(*handler.TaskEnd) {}

func TestNewNamesTheFault(t *testing.T) {
	good := plan(t, config.Input{Expected: time.Minute})
	var nobody *legacy
	for _, test := range []struct {
		name string
		h    handler.Handler
		o    handler.Options
		want string
	}{
		{"no handler", nil, handler.Options{Plan: good}, "handler is nil"},
		{"nil function", handler.Func(nil), handler.Options{Plan: good}, "handler is nil"},
		{"nil pointer", (*pointer)(nil), handler.Options{Plan: good}, "handler is nil"},
		{"no legacy handler", handler.Legacy("m", nil), handler.Options{Plan: good}, "handler is nil"},
		{"nil legacy pointer", handler.Legacy("m", nobody), handler.Options{Plan: good}, "handler is nil"},
		{"no plan", handler.Func(nothing), handler.Options{}, "Plan is empty"},
		{"plan not derived", handler.Func(nothing), handler.Options{Plan: &config.Plan{}}, "Plan is empty"},
		{"slots", handler.Func(nothing), handler.Options{Plan: good, Slots: -1}, "Slots is -1"},
		{"retry", handler.Func(nothing), handler.Options{Plan: good, Retry: retry.Policy{Initial: -1}}, "Retry"},
		{"backlog", handler.Func(nothing), handler.Options{Plan: good, BacklogBytes: -1}, "BacklogBytes is -1"},
		{"order", handler.Func(nothing), handler.Options{Plan: good, Order: 3}, "Order is 3"},
		{"key without its order", handler.Func(nothing), handler.Options{Plan: good, Order: handler.None, Key: keyOf}, "Key is set with order by none"},
		{"partition slots", handler.Func(nothing), handler.Options{Plan: good, PartitionSlots: 2}, "PartitionSlots is 2 with order by partition"},
		{"negative partition slots", handler.Func(nothing), handler.Options{Plan: good, Order: handler.None, PartitionSlots: -2}, "PartitionSlots is -2"},
		{"key slots", handler.Func(nothing), handler.Options{Plan: good, Order: handler.None, KeySlots: 2}, "KeySlots is 2 with order by none"},
		{"negative key slots", handler.Func(nothing), handler.Options{Plan: good, Order: handler.ByKey, KeySlots: -2}, "KeySlots is -2"},
		{"not a hook", handler.Func(nothing), handler.Options{Plan: good, Hooks: []any{noHook{}}}, "Hooks[0] is a handler_test.noHook"},
		{"another event", handler.Func(nothing), handler.Options{Plan: good, Hooks: []any{&byPointer{}}}, "it has OnTaskEnd(*handler.TaskEnd); TaskEndHook wants OnTaskEnd(handler.TaskEnd)"},
		{"no hook", handler.Func(nothing), handler.Options{Plan: good, Hooks: []any{nil}}, "Hooks[0] is nil: remove it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g, err := handler.New(test.h, test.o)
			if g != nil || !errors.Is(err, handler.ErrOptions) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, %v, want an error about %q", g, err, test.want)
			}
		})
	}
	if _, err := handler.New(handler.Func(nothing), handler.Options{Plan: good}); err != nil {
		t.Errorf("defaults: %v", err)
	}
}

func keyOf(m *sarama.ConsumerMessage) []byte { return m.Key }

// noHook has a method that looks like a hook's.
type noHook struct{}

func (noHook) OnTaskEnded(handler.TaskEnd) {}

type pointer struct{}

func (*pointer) Handle(context.Context, *handler.Task) error { return nil }

// legacy keeps what it was called with.
type legacy struct{ calls []legacyCall }

type legacyCall struct {
	name, topic string
	partition   int32
	offset      int64
	key, value  string
}

func (l *legacy) Handle(name, topic string, partition int32, offset int64, key, value string) error {
	l.calls = append(l.calls, legacyCall{name, topic, partition, offset, key, value})
	if len(l.calls) == 1 {
		return errTask
	}
	return nil
}

func TestLegacyHandlerIsCalledWithPlainValues(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		var l legacy
		o := options(t)
		o.Slots = 1
		g := newGroup(t, o, handler.Legacy("m-7", &l).Handle)
		c := newClaim(3, 0)
		c.messages <- &sarama.ConsumerMessage{Topic: topic, Partition: 3, Offset: 9, Key: []byte("k"), Value: []byte("v")}
		g.consume(c)
		time.Sleep(time.Minute)
		g.wantCommitted(3, 10)
		g.end()
		want := legacyCall{"m-7", topic, 3, 9, "k", "v"}
		if len(l.calls) != 2 || l.calls[0] != want || l.calls[1] != want {
			t.Errorf("called with %+v, want twice %+v", l.calls, want)
		}
	})
}

// The price of a short task is what has to be allocated for it.
func TestTaskIsSmall(t *testing.T) {
	if n := reflect.TypeFor[handler.Task]().Size(); n > 32 {
		t.Errorf("a task has %d bytes", n)
	}
}

// The number of slots bounds the tasks that run at once; one slot makes a strictly serial consumer.
func TestSlotsBoundRunningTasks(t *testing.T) {
	for slots, want := range map[int]int{0: 5, 1: 1, 3: 3, 9: 5} {
		inVirtualTime(t, func(t *testing.T) {
			var mu sync.Mutex
			running, most := 0, 0
			count := func(n int) {
				mu.Lock()
				defer mu.Unlock()
				running += n
				most = max(most, running)
			}
			o := options(t)
			o.Slots = slots
			g := newGroup(t, o, func(context.Context, *handler.Task) error {
				count(1)
				defer count(-1)
				time.Sleep(time.Second)
				return nil
			})
			for p := range int32(5) {
				g.consume(newClaim(p, 4))
			}
			time.Sleep(time.Hour)
			mu.Lock()
			defer mu.Unlock()
			if most != want {
				t.Errorf("%d slots: %d ran at once, want %d", slots, most, want)
			}
			for p := range int32(5) {
				g.wantCommitted(p, 4)
			}
			g.end()
		})
	}
}

// With fewer slots than partitions each gets its turn.
func TestSlotsGoRound(t *testing.T) {
	for _, task := range []time.Duration{time.Microsecond, time.Millisecond, time.Minute} {
		inVirtualTime(t, func(t *testing.T) {
			o := options(t)
			o.Slots = 2
			g := newGroup(t, o, deaf(task))
			for p := range int32(10) {
				g.consume(newClaim(p, 1000))
			}
			time.Sleep(500 * task)
			time.Sleep(10 * time.Millisecond)
			for p := range int32(10) {
				if got := g.s.committed(p); got < 50 {
					t.Errorf("tasks of %v: partition %d got %d turns of about 100", task, p, got)
				}
			}
			g.end()
		})
	}
}

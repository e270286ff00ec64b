package handler_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"

	"github.com/evenkeel-go/evenkeel/handler"
)

// ordered are options for long tasks in an order, with slots.
func ordered(t *testing.T, order handler.Order, slots int) handler.Options {
	t.Helper()
	o := options(t)
	o.Order, o.Slots = order, slots
	return o
}

// putKeys appends a message for each key; "-" is no key.
func (c *claim) putKeys(first int64, keys ...string) {
	for i, k := range keys {
		m := &sarama.ConsumerMessage{Topic: topic, Partition: c.partition, Offset: first + int64(i), Key: []byte(k), Value: []byte("v")}
		if k == "-" {
			m.Key = nil
		}
		c.messages <- m
	}
}

func TestOrderSaysWhatRunsAtOnce(t *testing.T) {
	keys := []string{"a", "a", "b", "-", "-", "", "", "b"}
	for _, test := range []struct {
		name   string
		change func(*handler.Options)
		want   []int64 // what runs first
	}{
		{"partition", func(*handler.Options) {}, []int64{0}},
		{"key", func(o *handler.Options) { o.Order = handler.ByKey }, []int64{0, 2, 3, 4, 5}},
		{"none", func(o *handler.Options) { o.Order = handler.None }, []int64{0, 1, 2, 3, 4, 5, 6, 7}},
		{"none, few slots", func(o *handler.Options) { o.Order, o.Slots = handler.None, 3 }, []int64{0, 1, 2}},
		{"none, few of a partition", func(o *handler.Options) { o.Order, o.PartitionSlots = handler.None, 2 }, []int64{0, 1}},
		{"key, two of a key", func(o *handler.Options) { o.Order, o.KeySlots = handler.ByKey, 2 }, []int64{0, 1, 2, 3, 4, 5, 6, 7}},
		{"one key of all", func(o *handler.Options) {
			o.Order, o.Key = handler.ByKey, func(*sarama.ConsumerMessage) []byte { return []byte("same") }
		}, []int64{0}},
		{"key, as many slots as partitions", func(o *handler.Options) { o.Order, o.Slots = handler.ByKey, 0 }, []int64{0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			eachProtocol(t, func(t *testing.T, p protocol) {
				o := ordered(t, handler.ByPartition, 100)
				test.change(&o)
				g := newGroup(t, o, obedient(time.Hour))
				c := newClaim(0, 0)
				c.putKeys(0, keys...)
				done := g.consume(c)
				synctest.Wait()
				time.Sleep(time.Minute)
				var running []int64
				for _, task := range g.Status().Claims[0].Tasks {
					running = append(running, task.Offset)
				}
				if !slices.Equal(running, test.want) {
					t.Errorf("%v run, want %v", running, test.want)
				}
				time.Sleep(9 * time.Hour)
				g.wantCommitted(0, int64(len(keys)))
				p.revoke(g, c)
				<-done
				g.end()
			})
		})
	}
}

// B22: what finishes out of order moves the commit once all before it is finished, and not earlier.
func TestCommitNeverPassesAnUnfinishedTask(t *testing.T) {
	for _, order := range []handler.Order{handler.ByKey, handler.None} {
		inVirtualTime(t, func(t *testing.T) {
			g := newGroup(t, ordered(t, order, 3), func(ctx context.Context, m *handler.Task) error {
				return deaf(time.Duration(13-m.Offset)*time.Hour)(ctx, m) // 10 takes 3 h, 12 one
			})
			c := newClaim(0, 0)
			c.initial = 10
			c.putKeys(10, "a", "b", "c")
			g.consume(c)
			time.Sleep(2*time.Hour + time.Minute)
			if n := g.Status().Succeeded; n != 2 {
				t.Fatalf("%v: %d have ended", order, n)
			}
			g.wantCommitted(0, 10)
			time.Sleep(time.Hour)
			g.wantCommitted(0, 13)
			g.end()
		})
	}
}

// A failed task gives its slot back and holds its key alone.
func TestRetryHoldsItsKeyAlone(t *testing.T) {
	for _, order := range []handler.Order{handler.ByKey, handler.None} {
		inVirtualTime(t, func(t *testing.T) {
			failed := false
			o := ordered(t, order, 1)
			o.Retry.Initial, o.Retry.Max = time.Hour, time.Hour
			g := newGroup(t, o, func(_ context.Context, m *handler.Task) error {
				if m.Offset == 0 && !failed {
					failed = true
					return errTask
				}
				return nil
			})
			c := newClaim(0, 0)
			c.putKeys(0, "a", "b", "a", "-", "b")
			g.consume(c)
			time.Sleep(time.Minute)
			want := []int64{0, 1, 3, 4}
			if order == handler.None {
				want = []int64{0, 1, 2, 3, 4}
			}
			if got := slices.Sorted(slices.Values(g.seen.all())); !slices.Equal(got, want) { // tasks this short start in bunches of a key
				t.Errorf("%v: started %v, want %v", order, got, want)
			}
			g.wantCommitted(0, 0)
			if s := g.Status().Claims[0]; !s.Retrying || s.Backlog != 6-len(want) {
				t.Errorf("claim %+v", s)
			}
			time.Sleep(time.Hour)
			g.wantCommitted(0, 5)
			g.end()
		})
	}
}

// Many keys fail at different times, and each is tried again at its own.
func TestRetriesOfManyKeysComeInTheirOwnTime(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		var tries sync.Map
		o := ordered(t, handler.ByKey, 4)
		o.Retry.Initial, o.Retry.Max = time.Second, time.Minute
		g := newGroup(t, o, func(_ context.Context, m *handler.Task) error {
			n, _ := tries.LoadOrStore(m.Offset, new(int64))
			if *n.(*int64)++; *n.(*int64) <= m.Offset%5 {
				return errTask
			}
			return nil
		})
		c := newClaim(0, 0)
		for o := range int64(200) {
			c.putKeys(o, string(rune('a'+o%26)))
		}
		g.consume(c)
		time.Sleep(3 * time.Hour)
		g.wantCommitted(0, 200)
		if s := g.Status(); s.Failed != 400 || s.Succeeded != 200 {
			t.Errorf("%+v", s.Counts)
		}
		g.end()
	})
}

// With a grace each running task of a revoked claim has the chance to end, and each other one is cancelled.
func TestAllTasksOfAClaimHaveTheGrace(t *testing.T) {
	for _, order := range []handler.Order{handler.ByKey, handler.None} {
		eachProtocol(t, func(t *testing.T, p protocol) {
			var ends claimEnds
			o := with(t, config.Input{Expected: time.Minute, Grace: time.Minute})
			o.Order, o.Slots, o.Hooks = order, 4, []any{&ends}
			g := newGroup(t, o, func(ctx context.Context, m *handler.Task) error {
				switch m.Offset {
				case 0, 1:
					return deaf(30*time.Second)(ctx, m)
				case 2:
					return obedient(time.Hour)(ctx, m)
				default:
					return deaf(time.Hour)(ctx, m)
				}
			})
			c := newClaim(0, 0)
			c.putKeys(0, "a", "b", "c", "d", "e")
			done := g.consume(c)
			time.Sleep(time.Second)
			p.revoke(g, c)
			<-done
			g.wantCommitted(0, 2)
			if got := slices.Sorted(slices.Values(g.seen.all())); !slices.Equal(got, []int64{0, 1, 2, 3}) {
				t.Errorf("started %v", got)
			}
			if e := ends.all()[0]; e.Succeeded != 2 || e.Cancelled != 1 || e.Abandoned != 1 {
				t.Errorf("claim end %+v", e)
			}
			time.Sleep(2 * time.Hour)
			if s := g.Status(); s.Strays != 1 || s.Running != 0 {
				t.Errorf("status %+v", s)
			}
			g.end()
		})
	}
}

// The next claim of a partition waits for each task that was given up with the one before.
func TestNextClaimWaitsForAllStrays(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g := newGroup(t, ordered(t, handler.None, 9), func(ctx context.Context, m *handler.Task) error {
			return deaf(time.Duration(m.Offset+1)*time.Hour)(ctx, m)
		})
		first := newClaim(0, 3)
		done := g.consume(first)
		time.Sleep(time.Minute)
		close(first.messages)
		<-done
		g.consume(newClaim(0, 3))
		time.Sleep(2*time.Hour + time.Minute) // the last one of the first claim goes on
		if n := g.seen.count(); n != 3 {
			t.Errorf("%d starts beside a task that was given up", n)
		}
		time.Sleep(4 * time.Hour)
		g.wantCommitted(0, 3)
		if s := g.Status(); s.Strays != 3 || s.Succeeded != 3 {
			t.Errorf("%+v", s.Counts)
		}
		g.end()
	})
}

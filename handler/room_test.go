package handler_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
)

// stream is a claim with endless messages, which stops sending while it is paused; one batch is always under way.
type stream struct {
	*claim
	value []byte
	batch int
	done  chan struct{}
}

func newStream(size, batch int) *stream {
	c := newClaim(0, 0)
	c.messages = make(chan *sarama.ConsumerMessage)
	return &stream{claim: c, value: make([]byte, size), batch: batch, done: make(chan struct{})}
}

// feed ends with done.
func (s *stream) feed() {
	for o := int64(0); ; {
		for s.isPaused() {
			select {
			case <-time.After(100 * time.Millisecond): // as a fetcher whose partitions are all paused
			case <-s.done:
				return
			}
		}
		for range s.batch {
			select {
			case s.messages <- &sarama.ConsumerMessage{Topic: topic, Offset: o, Value: s.value}:
				o++
			case <-s.done:
				return
			}
		}
		time.Sleep(time.Millisecond)
	}
}

// G9: what a claim holds is bounded in messages and in bytes, whatever lies on the topic, and no bound stops the work.
func TestBacklogIsBounded(t *testing.T) {
	for _, test := range []struct {
		name        string
		in          config.Input
		task        time.Duration
		size, batch int
		messages    int   // at most, with the batch that was under way
		bytes       int64 // the same
		done        int   // in a hundred tasks' time, at least
	}{
		{"long tasks", config.Input{Expected: time.Second}, time.Second, 100, 50, 2 + 50, 1 << 20, 100},
		{"long tasks, large messages", config.Input{Expected: time.Second}, time.Second, 1 << 20, 3, 2 + 3, 6 << 20, 100},
		{"short tasks", config.Input{Expected: time.Millisecond}, time.Millisecond, 10, 500, 30_000 + 500 + 64, 2 << 20, 95},
		{"short tasks, large messages", config.Input{Expected: time.Millisecond}, time.Millisecond, 100_000, 10, 100, 4 << 20, 15},
	} {
		t.Run(test.name, func(t *testing.T) {
			eachProtocol(t, func(t *testing.T, p protocol) {
				g := newGroup(t, with(t, test.in), deaf(test.task))
				s := newStream(test.size, test.batch)
				go s.feed()
				done := g.consume(s)
				var worst handler.ClaimStatus
				for range 100 {
					time.Sleep(test.task)
					c := g.Status().Claims[0]
					worst.Backlog, worst.Bytes = max(worst.Backlog, c.Backlog), max(worst.Bytes, c.Bytes)
				}
				if worst.Backlog > test.messages || worst.Bytes > test.bytes {
					t.Errorf("held up to %d messages and %d bytes, want at most %d and %d", worst.Backlog, worst.Bytes, test.messages, test.bytes)
				}
				if n := g.seen.count(); n < test.done {
					t.Errorf("%d tasks started, want %d", n, test.done)
				}
				close(s.done)
				synctest.Wait()
				p.revoke(g, s.claim)
				<-done
				if s.isPaused() {
					t.Error("the claim ended and left its source paused")
				}
				g.end()
			})
		})
	}
}

// wrapped is a claim inside something that has no Pause and no Resume.
type wrapped struct{ sarama.ConsumerGroupClaim }

// G9: a claim that cannot be paused is bounded too, and goes on when there is room.
func TestClaimThatCannotBePausedIsBounded(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		g := newGroup(t, options(t), deaf(time.Minute))
		c := newClaim(0, 20)
		done := g.consume(wrapped{c})
		time.Sleep(5*time.Minute + time.Second)
		if n := len(c.messages); n < 20-5-2 {
			t.Errorf("%d of 20 are left after five tasks", n)
		}
		g.wantStarted(0, 1, 2, 3, 4, 5)
		if p.name == "cooperative" {
			for len(c.messages) > 0 { // sarama hands out what is buffered before it closes
				time.Sleep(time.Minute)
			}
		}
		if took := elapsed(func() { p.revoke(g, c); <-done }); took > time.Minute {
			t.Errorf("the claim ended after %v", took)
		}
		g.end()
	})
}

// B06: a few slow messages before many fast ones leave nothing paused for ever.
func TestSlowMessagesLeaveNothingPaused(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g := newGroup(t, with(t, config.Input{Expected: 10 * time.Second}), func(ctx context.Context, m *handler.Task) error {
			if m.Offset < 5 {
				return obedient(10*time.Second)(ctx, m)
			}
			return nil
		})
		c := newClaim(0, 500)
		g.consume(c)
		time.Sleep(51 * time.Second)
		synctest.Wait()
		g.wantCommitted(0, 500)
		if c.isPaused() || c.pauses == 0 {
			t.Errorf("paused: %v, after %d pauses", c.isPaused(), c.pauses)
		}
		g.end()
	})
}

// A message that alone is larger than the bound pauses nothing, and fetching goes on as soon as one is left, however large.
func TestLargeMessageLeavesRoomForTheNext(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g := newGroup(t, options(t), deaf(time.Minute))
		c := newClaim(0, 0)
		g.consume(c)
		for o := range int64(4) {
			c.messages <- &sarama.ConsumerMessage{Topic: topic, Offset: o, Value: make([]byte, 3<<20)}
			if o == 0 {
				time.Sleep(time.Second)
				if c.pauses > 0 {
					t.Error("paused for a single message")
				}
			}
		}
		for running := range 4 {
			time.Sleep(time.Second)
			if want := running < 3; c.isPaused() != want {
				t.Errorf("while number %d runs and %d wait: paused %v, want %v", running, 3-running, c.isPaused(), want)
			}
			time.Sleep(time.Minute - time.Second)
		}
		g.end()
		if c.pauses != 1 {
			t.Errorf("paused %d times", c.pauses)
		}
	})
}

// The backlog of short tasks is refilled at half, or earlier when more than that ends while a fetcher naps: else runners would starve.
func TestBacklogIsRefilledInTime(t *testing.T) {
	for each, want := range map[time.Duration][2]int{time.Millisecond: {14_900, 15_000}, 5 * time.Microsecond: {16_000, 30_000}} {
		inVirtualTime(t, func(t *testing.T) {
			g := newGroup(t, short(t), deaf(each))
			c := newClaim(0, 31_000)
			g.consume(c)
			for !c.isPaused() {
				time.Sleep(each)
			}
			for c.isPaused() {
				time.Sleep(each)
			}
			if left := 31_000 - g.seen.count(); left < want[0] || left > want[1] {
				t.Errorf("tasks of %v: fetching went on at %d, want %d to %d", each, left, want[0], want[1])
			}
			g.end()
		})
	}
}

// A claim that waits for a retry or for a stray holds its backlog, and gives the source back when it ends.
func TestPausedClaimResumesAtItsEnd(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		g := newGroup(t, options(t), func(context.Context, *handler.Task) error { return errTask })
		c := newClaim(0, 10)
		done := g.consume(c)
		time.Sleep(time.Second)
		if !c.isPaused() {
			t.Error("not paused with a backlog of 10")
		}
		p.revoke(g, c)
		<-done
		if c.isPaused() {
			t.Error("the claim ended and left its source paused")
		}
	})
}

// G9: all claims together hold no more than the member may, and each goes on with one message however much the others hold.
func TestTheMemberIsBoundedToo(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		o := options(t)
		o.BacklogBytes, o.Plan.BacklogMessages = 3000, 100
		g := newGroup(t, o, deaf(time.Minute))
		big, small := newClaim(0, 0), newClaim(1, 0)
		value := make([]byte, 2500)
		big.messages <- &sarama.ConsumerMessage{Topic: topic, Value: value}
		g.consume(big)
		g.consume(small)
		time.Sleep(time.Second)
		small.put(0, 2)
		time.Sleep(time.Second)
		if !small.isPaused() {
			t.Error("a second message was let in beyond the bound")
		}
		time.Sleep(time.Minute)
		if small.isPaused() {
			t.Error("still paused when there is room")
		}
		time.Sleep(2 * time.Minute)
		g.wantCommitted(1, 2)
		g.end()
	})
}

// An adopted task counts for the bound of its claim as it did before: as running, which is bounded by the slots.
func TestAnAdoptedTaskTakesNoRoom(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		o := ordered(t, handler.ByKey, 1)
		o.Plan.BacklogBytes = 4000
		r := begin(t, o, false, deaf(time.Hour))
		message := func(o int64, size int) *sarama.ConsumerMessage {
			return &sarama.ConsumerMessage{Topic: topic, Offset: o, Value: make([]byte, size)}
		}
		r.log = append(r.log, message(0, 3000))
		r.claim.messages <- message(0, 3000)
		time.Sleep(30 * time.Minute)
		r.rejoin()
		time.Sleep(time.Hour) // the adopted task has ended
		for o := range int64(3) {
			r.claim.messages <- message(1+o, 500)
		}
		time.Sleep(time.Minute)
		if r.claim.isPaused() {
			t.Error("paused with a third of the bound waiting")
		}
		r.group.end()
	})
}

// What a claim has held is free when it ends, and those that pause for it are told.
func TestTheRoomOfAnEndedClaimIsTold(t *testing.T) {
	for _, order := range []handler.Order{handler.ByPartition, handler.ByKey} {
		t.Run(order.String(), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				o := ordered(t, order, 8)
				o.BacklogBytes, o.Plan.BacklogMessages, o.Plan.BacklogBytes = 6000, 100, 1<<20
				g := newGroup(t, o, func(ctx context.Context, m *handler.Task) error {
					if m.Partition == 0 {
						return obedient(5*time.Hour)(ctx, m)
					}
					return deaf(5*time.Hour)(ctx, m)
				})
				g.assign(0, 1)
				big, small := newClaim(0, 0), newClaim(1, 0)
				big.messages <- &sarama.ConsumerMessage{Topic: topic, Value: make([]byte, 5500)}
				done := g.consume(big)
				g.consume(small)
				time.Sleep(time.Second)
				for i := range 3 { // one runs, two wait for it
					small.messages <- &sarama.ConsumerMessage{Topic: topic, Partition: 1, Offset: int64(i), Key: []byte("a"), Value: []byte("v")}
				}
				time.Sleep(time.Second)
				if !small.isPaused() {
					t.Fatal("not paused")
				}
				g.assign(1) // cooperative: partition 0 moves, partition 1 stays
				close(big.messages)
				<-done
				time.Sleep(time.Hour)
				if held, _, _, _ := g.Leftovers(); small.isPaused() {
					t.Errorf("an hour after there is room (%d of 6000 bytes held) the other claim is still paused", held)
				}
				g.end()
			})
		})
	}
}

// G9: all claims together hold no more than BacklogBytes and a message each, also where slots are free.
func TestTheMembersBoundHoldsWithManySlots(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		o := ordered(t, handler.None, 1000)
		o.BacklogBytes = 100_000
		g := newGroup(t, o, deaf(time.Hour))
		s := newStream(10_000, 1)
		go s.feed()
		g.consume(s)
		time.Sleep(30 * time.Minute)
		c := g.Status().Claims[0]
		held, _, _, _ := g.Leftovers()
		if held > 200_000 {
			t.Errorf("the member holds %d bytes, its bound is 100000: %d messages, paused %v", held, c.Backlog, c.Paused)
		}
		close(s.done)
		synctest.Wait()
		g.end()
	})
}

// Tasks end while the claim commits that they go on.
func TestWhatEndsDuringTheLastWordIsTakenOutOnce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		r := begin(t, ordered(t, handler.None, 2), false, apart(10*time.Minute), "a", "b")
		time.Sleep(10*time.Minute - time.Second/4)
		r.s.slowMarks(time.Second)
		r.endSession(sarama.ErrRebalanceInProgress)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if held, _, _, _ := r.Leftovers(); held != 0 {
			t.Errorf("a member of which no task runs holds %d bytes", held)
		}
		r.assign(1)
		r.group.end()
	})
}

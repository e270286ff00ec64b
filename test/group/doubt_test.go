package group_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

type commitHook func(consumer.Commit)

func (f commitHook) OnCommit(c consumer.Commit) { f(c) }

type errorHook func(error)

func (f errorHook) OnError(err error) { f(err) }

func hooked(hook any) func(*consumer.Config) {
	return func(c *consumer.Config) { c.Hooks = append([]any{hook}, c.Hooks...) }
}

// G7. The commits go on, and the hooks after the one that panics are called.
func TestAHookThatPanicsTakesNothingDown(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 1)
		g.Produce(2)
		a := g.Start("a", instant, hooked(commitHook(func(consumer.Commit) { panic("of a hook") })))
		g.UntilAllHandled()
		a.Stop()
		g.UntilSeen(1, kit.Logged, kit.Saying("a hook panicked"))
	}, kit.Fake)
}

func instant(context.Context, *handler.Task) error { return nil }

// G12. The hook is told of the loss, and does not return.
func TestTheLeaseWaitsForNoHook(t *testing.T) {
	eachFake(t, func(t *testing.T, b *kafkatest.LinkedFake, g *kit.Group) {
		over := make(chan struct{})
		l, gate := b.Link("a"), kit.NewGate()
		g.Start("a", gate.Hold, throughLink(l), hooked(errorHook(func(err error) {
			if _, ok := errors.AsType[*consumer.LeaseError](err); ok {
				<-over
			}
		})))
		t.Cleanup(func() { close(over) })
		g.UntilSeen(1, kit.Started)
		g.UntilSeen(1, kit.Committed)
		begin := g.Note("cut off")
		l.Cut()
		e := g.UntilSeen(1, kit.Cancelled, kit.Is(handler.ErrLost))[0]
		g.WantWithin("until the task is cancelled", begin, e.At, g.Plan().Lease)
		must(t, l.Restore())
	})
}

// B28. The answer to a commit of the member that was removed comes when the next one has joined already.
func TestALateAnswerEndsNoOtherMembership(t *testing.T) {
	eachFake(t, func(t *testing.T, b *kafkatest.LinkedFake, g *kit.Group) {
		g.ProduceTo(0, 1)
		var held atomic.Bool
		late := make(chan struct{})
		b.Cluster.ControlKey(int16(kmsg.OffsetCommit), func(r kmsg.Request) (kmsg.Response, error, bool) {
			b.Cluster.KeepControl()
			req := r.(*kmsg.OffsetCommitRequest)
			if req.Topics[0].Partitions[0].Offset != 1 || !held.CompareAndSwap(false, true) {
				return nil, nil, false
			}
			b.Cluster.SleepControl(func() { <-late })
			return nil, nil, false // UNKNOWN_MEMBER_ID by then
		})
		first, gate := kit.NewGate(), kit.NewGate()
		a := g.Start("a", func(ctx context.Context, t *handler.Task) error {
			if t.Offset == 0 {
				return first.Hold(ctx, t)
			}
			return gate.Hold(ctx, t)
		})
		g.UntilSeen(1, kit.Committed, kit.AtOffset(0)) // the next claim need not ask, behind the commit that is out
		first.Open()
		g.UntilSeen(1, kit.Started, kit.AtOffset(1))
		g.Until("a commit is out", held.Load)
		leaveInItsName(t, g, a)
		g.UntilSeen(2, kit.Assigned) // nothing starts yet: the claim reads its commit behind the one that is out
		close(late)
		g.UntilSeen(1, kit.Refused, kit.Is(sarama.ErrUnknownMemberId))
		g.UntilSeen(2, kit.Started, kit.AtOffset(1))
		gate.Open()
		g.UntilAllHandled()
		a.Stop()
		g.WantAtMost(2, kit.Started, kit.AtOffset(1))
	})
}

// eachFake runs f on an in-process broker with links, under each protocol, with a message on the one partition.
func eachFake(t *testing.T, f func(t *testing.T, b *kafkatest.LinkedFake, g *kit.Group)) {
	t.Helper()
	t.Parallel()
	for name, eager := range map[string]bool{"eager": true, "cooperative": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := kafkatest.FakeLinked(t)
			g := kit.Setting{Broker: b, Eager: eager}.Group(t, 1)
			g.Produce(1)
			f(t, b, g)
		})
	}
}

func throughLink(l *kafkatest.Link) func(*consumer.Config) {
	return func(c *consumer.Config) { c.Brokers, c.Sarama = l.Addrs(), l.Config() }
}

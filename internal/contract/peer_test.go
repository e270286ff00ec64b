package contract_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/fakegroup"
)

const peerTopic, peerGroup = "reports", "billing"

// peer is a member of a group in memory that consumes over sarama's interfaces alone, as somebody does who takes package handler without
// package consumer.
type peer struct {
	*handler.GroupHandler
	group   *fakegroup.Group
	watched *watched
	cancel  context.CancelFunc
	done    chan struct{}
}

func newPeer(t *testing.T, c *fakegroup.Cluster, name string, in config.Input, o handler.Options, f handler.Func) *peer {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	plan, err := in.Plan()
	must(err)
	o.Plan, o.Logger = plan, slog.New(slog.DiscardHandler)
	h, err := handler.New(f, o)
	must(err)
	cfg, err := plan.Apply(nil)
	must(err)
	cfg.ClientID = name
	cfg.Consumer.Offsets.Initial = sarama.OffsetOldest
	cfg.Consumer.Offsets.AutoCommit.Interval = plan.HeartbeatInterval // as seldom as anything else; a hand-over does not wait for it
	cfg.Consumer.Group.Rebalance.GroupStrategies = h.BalanceStrategies()
	g, err := fakegroup.NewGroup(c, peerGroup, cfg)
	must(err)
	ctx, cancel := context.WithCancel(context.Background())
	p := &peer{GroupHandler: h, group: g, cancel: cancel, done: make(chan struct{})}
	go p.drain()      // ends when the group is closed
	go p.consume(ctx) // ends with ctx
	return p
}

func (p *peer) consume(ctx context.Context) {
	defer close(p.done)
	for ctx.Err() == nil {
		if err := p.group.Consume(ctx, []string{peerTopic}, p.GroupHandler); err != nil {
			time.Sleep(time.Second)
		}
	}
	_ = p.group.Close() // what it says was an error of some session
	_ = p.Wait(context.Background())
}

func (p *peer) drain() {
	for range p.group.Errors() { // of a member that was cut off
	}
}

// stop lets the member leave.
func (p *peer) stop() {
	p.cancel()
	<-p.done
}

// A member that was cut off has lost its partitions. When it is back it gets its share of those on which nothing runs: what it says that it
// owned once keeps them from nobody.
func TestAMemberThatWasCutOffGetsItsShare(t *testing.T) {
	for name, eager := range map[string]bool{"eager": true, "cooperative": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := fakegroup.NewCluster()
				c.CreateTopic(peerTopic, 4)
				join := func(name string) *peer {
					return newPeer(t, c, name, config.Input{Expected: time.Minute, Eager: eager}, handler.Options{},
						func(context.Context, *handler.Task) error { return nil })
				}
				one := join("one")
				time.Sleep(time.Minute)
				one.group.Cut()
				two := join("two")
				time.Sleep(10 * time.Minute)
				if n := len(two.Status().Claims); n != 4 {
					t.Errorf("the other one has %d partitions meanwhile", n)
				}
				one.group.Mend()
				time.Sleep(5 * time.Hour)
				if n, m := len(one.Status().Claims), len(two.Status().Claims); n != 2 || m != 2 {
					t.Errorf("the one that was cut off has %d partitions, the other one %d", n, m)
				}
				one.stop()
				two.stop()
			})
		})
	}
}

package handler_test

import (
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
)

// Without arguments the strategy is the plan's; others are wrapped in their order.
func TestBalanceStrategies(t *testing.T) {
	names := func(in config.Input, s ...sarama.BalanceStrategy) (names []string) {
		in.Expected = time.Minute
		h, err := handler.New(handler.Func(nothing), with(t, in))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range h.BalanceStrategies(s...) {
			names = append(names, s.Name())
		}
		return names
	}
	if got := names(config.Input{}); len(got) != 1 || got[0] != "evenkeel" {
		t.Errorf("by default %v", got)
	}
	if got := names(config.Input{Eager: true}); len(got) != 1 || got[0] != "evenkeel" {
		t.Errorf("of an eager plan %v", got)
	}
	got := names(config.Input{}, sarama.NewBalanceStrategyRange(), sarama.NewBalanceStrategyRoundRobin())
	if len(got) != 2 || got[0] != "range" || got[1] != "roundrobin" {
		t.Errorf("of others %v", got)
	}
}

// A closed stream is told from a revocation only by an assignment of this very generation that contains the partition.
func TestClosedStreamIsARevocationUnlessProvenOtherwise(t *testing.T) {
	for _, test := range []struct {
		name   string
		before func(g *group)
		want   handler.Reason
	}{
		{"nothing heard", func(*group) {}, handler.Rebalance},
		{"ours in this generation", func(g *group) { g.assign(0, 1) }, handler.StreamEnded},
		{"ours in an older one", func(g *group) { g.assign(0); g.s.next() }, handler.Rebalance},
		{"another partition", func(g *group) { g.assign(1) }, handler.Rebalance},
	} {
		t.Run(test.name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				var ends claimEnds
				o := options(t)
				o.Hooks = []any{&ends}
				g := newGroup(t, o, nothing)
				test.before(g)
				c := newClaim(0, 1)
				done := g.consume(c)
				time.Sleep(time.Second)
				close(c.messages)
				<-done
				if got := ends.all()[0].Reason; got != test.want {
					t.Errorf("%v, want %v", got, test.want)
				}
			})
		})
	}
}

// An assignment takes only what it lacks, and says nothing to claims that came after it.
func TestAssignmentRevokesOnlyWhatItLacks(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g := newGroup(t, options(t), obedient(time.Hour))
		kept, gone := g.consume(newClaim(0, 1)), g.consume(newClaim(1, 1))
		time.Sleep(time.Minute)
		g.assign(0)
		<-gone
		select {
		case <-kept:
			t.Error("the claim that is still ours has ended")
		case <-time.After(time.Hour):
		}
		g.wantCommitted(0, 1)
		g.end()
	})
}

package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-go/evenkeel/bench/ledger"
	"github.com/evenkeel-go/evenkeel/bench/peers"
)

const (
	oursName             = "evenkeel"
	parallelConsumerName = "parallel_consumer"
	racingName           = "sarama_racing"
	racingCooperative    = "sarama_racing_cooperative"
	parallelConsumerSays = "Confluent's Parallel Consumer 0.5.3.3 on Java 17, with as many slots and cooperative-sticky; commits each five seconds, its default"
)

var errNoJava = errors.New("no Java 17 with its compiler, no Maven, or -alone")

// side is one that takes part: this library or a peer.
type side struct {
	name   string
	says   string
	orders []peers.Order
}

func (s side) offers(o peers.Order) bool { return slices.Contains(s.orders, o) }

// sides are all that there are, ours first.
func sides() (list []side) {
	for _, p := range peers.All() {
		list = append(list, side{p.Name(), p.Says(), p.Orders()})
	}
	return append(list, side{parallelConsumerName, parallelConsumerSays, []peers.Order{peers.ByPartition, peers.ByKey, peers.None}})
}

// taking lets the sides that offer the order take their turns in each round, and notes why one has no figures.
type taking struct {
	lab     *lab
	row     string
	order   peers.Order
	without []string // sides that do not take part
	failed  map[string]error
}

// peerRounds are those of a row with all peers: the fewest of which a median says something.
const peerRounds = 3

// each calls one side after another, round after round. A side that fails is left out from then on.
func (t *taking) each(do func(s side) error) error {
	t.failed = map[string]error{}
	for range t.lab.roundsOr(peerRounds) {
		for _, s := range sides() {
			if !s.offers(t.order) || slices.Contains(t.without, s.name) || t.failed[s.name] != nil {
				continue
			}
			err := do(s)
			if t.lab.ctx.Err() != nil {
				return t.lab.ctx.Err()
			}
			if err != nil {
				t.failed[s.name] = err
				t.lab.absent(t.row, s.name, err.Error())
			}
		}
	}
	if err := t.failed[oursName]; err != nil {
		return fmt.Errorf("run ours: %w", err)
	}
	return nil
}

// stage is a topic and the members that work on it, one side's.
type stage struct {
	lab     *lab
	spec    spec
	book    ledger.Ledger
	members []*process
}

func (l *lab) stage(s spec, f *filled) *stage {
	s.Brokers, s.Topic, s.Group = f.broker.Addrs(), f.name, l.name("side")
	return &stage{lab: l, spec: s}
}

// join starts one member more and returns when it is about to join.
func (s *stage) join() (p *process, ready time.Time, err error) {
	p, err = s.lab.spawn(s.spec, len(s.members), &s.book)
	if err != nil {
		return nil, ready, err
	}
	s.members = append(s.members, p)
	ready, err = awaitOf(p, p.ready)
	return p, ready, err
}

// begin starts the first member and waits for its first task.
func (s *stage) begin() (p *process, ready time.Time, err error) {
	p, ready, err = s.join()
	if err == nil {
		err = s.until(p, func(r ledger.Runs) bool { return len(r) > 0 })
	}
	return p, ready, err
}

// until waits for what the ledger says.
func (s *stage) until(p *process, holds func(ledger.Runs) bool) error {
	for end := time.Now().Add(sidePatience); time.Now().Before(end); {
		if holds(s.runs()) {
			return nil
		}
		select {
		case <-p.done:
			_, err := awaitOf(p, make(chan struct{}))
			return err
		case <-time.After(20 * time.Millisecond):
		}
		if s.lab.ctx.Err() != nil {
			return s.lab.ctx.Err()
		}
	}
	return errLate
}

// sidePatience is how long a side may take to begin.
const sidePatience = 45 * time.Second

func (s *stage) runs() ledger.Runs { return s.book.Runs(time.Now()) }

// end kills all members: what comes after it is no longer looked at.
func (s *stage) end() {
	for _, p := range s.members {
		p.kill()
	}
}

package fakegroup

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

// network is a member's way to the cluster.
type network struct {
	timeout time.Duration // Net.ReadTimeout: how long the answer to a request is waited for

	mu     sync.Mutex
	down   bool
	killed bool
	delay  time.Duration

	changed *signal
	kill    chan struct{}
	hangUp  *signal
}

func newNetwork(cfg *sarama.Config) *network {
	return &network{timeout: cfg.Net.ReadTimeout, changed: newSignal(), kill: make(chan struct{}), hangUp: newSignal()}
}

func (n *network) up() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.down && !n.killed
}

func (n *network) dead() bool { return isClosed(n.kill) }

func (n *network) set(f func()) {
	n.mu.Lock()
	f()
	n.mu.Unlock()
	n.changed.broadcast()
}

func (n *network) joinDelay() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.delay
}

var errHungUp = fmt.Errorf("read: %w", os.ErrClosed)

func errTimeout() error { return fmt.Errorf("read: i/o timeout: %w", os.ErrDeadlineExceeded) }

// call sends a request that is answered at once. Over a cut network the answer never comes: the read times out.
func call[T any](n *network, f func() T) (T, error) {
	return wait(n, func() *reply[T] {
		r := newReply[T]()
		r.answer(f())
		return r
	})
}

// wait sends a request and waits for its answer, at most for Net.ReadTimeout. The coordinator goes on with a request whose
// answer nobody waits for any more, as a broker does.
func wait[T any](n *network, send func() *reply[T]) (answer T, err error) {
	timer := time.NewTimer(n.timeout)
	defer timer.Stop()
	hangUp := n.hangUp.wait()
	var done <-chan struct{}
	var r *reply[T]
	if n.up() {
		r = send()
		done = r.done
	}
	select {
	case <-done:
		if n.up() {
			return r.value, nil
		}
	case <-timer.C:
		return answer, errTimeout()
	case <-n.kill:
		return answer, sarama.ErrClosedClient
	case <-hangUp:
		return answer, errHungUp
	}
	return answer, n.silence(timer, hangUp)
}

// silence is what a request sees whose answer was lost on the way.
func (n *network) silence(timer *time.Timer, hangUp <-chan struct{}) error {
	select {
	case <-timer.C:
		return errTimeout()
	case <-n.kill:
		return sarama.ErrClosedClient
	case <-hangUp:
		return errHungUp
	}
}

// Cut makes the member's requests and fetches vanish until [Group.Mend]: each waits for Net.ReadTimeout and fails.
func (g *Group) Cut() { g.network.set(func() { g.network.down = true }) }

// Mend ends [Group.Cut].
func (g *Group) Mend() { g.network.set(func() { g.network.down = false }) }

// HangUp closes the connection to the coordinator once: a request that waits, a join for example, fails at once.
// The coordinator keeps what it was sent.
func (g *Group) HangUp() { g.network.hangUp.broadcast() }

// DelayJoin makes every later JoinGroup request of the member reach the coordinator d late.
func (g *Group) DelayJoin(d time.Duration) { g.network.set(func() { g.network.delay = d }) }

// Kill is a crash: nothing that the member does from now on reaches the cluster, it does not leave, and the coordinator expels it after
// its session timeout. So that a test can end, the session is cancelled with sarama.ErrClosedClient as its cause, Consume returns
// once its claims have, and later calls of Consume return sarama.ErrClosedConsumerGroup.
func (g *Group) Kill() {
	g.network.set(func() {
		if !g.network.killed {
			g.network.killed = true
			close(g.network.kill)
		}
	})
}

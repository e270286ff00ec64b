package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest/child"
)

var errDown = errors.New("the node is down")

// Stop ends the node in order: it hands over what it leads and takes leave. The data stay for [Node.Start].
// Where the others cannot take over (a single node, a lost quorum) ctx should end: then the node is killed.
func (n *Node) Stop(ctx context.Context) error {
	proc, err := n.running()
	if err != nil {
		return err
	}
	err = errors.Join(n.Resume(), proc.Terminate()) // a paused process does not hear the signal
	if err == nil {
		select {
		case <-proc.Done():
		case <-ctx.Done():
		}
	}
	return errors.Join(err, n.end(proc))
}

// Kill ends the node with SIGKILL, paused or not. The data stay for [Node.Start].
func (n *Node) Kill() error {
	proc, err := n.running()
	if err != nil {
		return err
	}
	return n.end(proc)
}

// Pause stops the process with SIGSTOP: its connections stay open and nothing is answered.
func (n *Node) Pause() error { return n.signal((*child.Process).Freeze, true) }

// Resume lets a paused node go on.
func (n *Node) Resume() error { return n.signal((*child.Process).Thaw, false) }

func (n *Node) signal(send func(*child.Process) error, paused bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc == nil {
		return errDown
	}
	n.paused = paused
	return send(n.proc)
}

func (n *Node) running() (*child.Process, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc == nil {
		return nil, errDown
	}
	return n.proc, nil
}

// end kills the process, if it has not ended, and notes that the node is down.
func (n *Node) end(proc *child.Process) error {
	err := proc.Kill()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc == proc {
		n.proc, n.paused = nil, false
	}
	return err
}

// Died says how the node has ended, if nobody stopped it: out of memory, say, or over its own log. It is nil for one that runs, or was stopped.
func (n *Node) Died() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc == nil || !n.proc.Ended() {
		return nil
	}
	log, err := n.Log()
	return fmt.Errorf("node %d of Kafka %s has ended by itself: %w\n%s", n.id, n.version, errors.Join(n.proc.Err(), err), tail(log))
}

// Restart stops the node in order and starts it again.
func (n *Node) Restart(ctx context.Context) error {
	if err := n.Stop(ctx); err != nil {
		return err
	}
	return n.Start(ctx)
}

// up says whether the node runs and is not paused.
func (n *Node) up() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.proc != nil && !n.paused && !n.proc.Ended()
}

// Close kills the node, removes its data and ends its links.
func (n *Node) Close() error {
	err := n.Kill()
	if errors.Is(err, errDown) {
		err = nil
	}
	for _, p := range n.proxies {
		err = errors.Join(err, p.Close())
	}
	if n.ports != nil {
		err = errors.Join(err, n.ports.close())
	}
	return errors.Join(err, os.RemoveAll(n.dir))
}

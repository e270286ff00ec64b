package kafkatest

import (
	"context"
	"errors"
	"os"
)

var errDown = errors.New("the node is down")

// Stop ends the node in order: it hands over what it leads and takes leave. The data stay for [Node.Start].
// Where the others cannot take over (a single node, a lost quorum) ctx should end: then the node is killed.
func (n *Node) Stop(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc == nil {
		return errDown
	}
	if err := errors.Join(n.resumeLocked(), terminate(n.proc.cmd.Process)); err != nil {
		return errors.Join(err, n.killLocked())
	}
	select {
	case <-n.proc.done:
	case <-ctx.Done():
	}
	return n.killLocked()
}

// Kill ends the node with SIGKILL, paused or not. The data stay for [Node.Start].
func (n *Node) Kill() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc == nil {
		return errDown
	}
	return n.killLocked()
}

func (n *Node) killLocked() error {
	proc := n.proc
	n.proc, n.paused = nil, false
	return proc.kill()
}

// Pause stops the process with SIGSTOP: its connections stay open and nothing is answered.
func (n *Node) Pause() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc == nil {
		return errDown
	}
	n.paused = true
	return pause(n.proc.cmd.Process)
}

// Resume lets a paused node go on.
func (n *Node) Resume() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc == nil {
		return errDown
	}
	return n.resumeLocked()
}

func (n *Node) resumeLocked() error {
	n.paused = false
	return resume(n.proc.cmd.Process)
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
	return n.proc != nil && !n.paused && !n.proc.ended()
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
	return errors.Join(err, os.RemoveAll(n.dir))
}

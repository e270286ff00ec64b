// Package child starts processes that do not outlive this one, whatever ends it: a panic, a test binary's timeout, SIGKILL.
package child

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
)

// Process is a running child. Its methods are safe for concurrent use.
//
// A watchdog makes sure of its end: a shell that waits for the end of a pipe whose other end we hold. The system closes that end
// when we die, and the shell kills its own process group, which the child was started in. A parent-death signal would be
// less: only Linux has it, and there it is tied to the thread that started the child. The group cannot be mistaken for
// another one, as its number is the watchdog's own process id.
type Process struct {
	cmd   *exec.Cmd
	done  chan struct{} // closed when the child has ended and was waited for
	err   error         // how the child ended; valid once done is closed
	watch *exec.Cmd
	hold  io.Closer // our end of the watchdog's pipe
}

// watchdog removes the folder first: nothing of the group survives the kill. It ignores SIGHUP, which the system sends to a group
// with a paused process in it when we die.
const watchdog = `trap '' HUP; read -r _; [ -z "$1" ] || rm -rf -- "$1"; kill -9 -$$`

// Start starts cmd. Its folder dir, "" for none, is removed if we die before [Process.Kill].
func Start(cmd *exec.Cmd, dir string) (*Process, error) {
	p := &Process{cmd: cmd, done: make(chan struct{}), watch: exec.Command("sh", "-c", watchdog, "watchdog", dir)}
	hold, err := p.watch.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.hold = hold
	inGroup(p.watch, 0)
	if err := p.watch.Start(); err != nil {
		return nil, err
	}
	inGroup(cmd, p.watch.Process.Pid)
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, p.dismiss())
	}
	// Ends with the child, which Kill sees to at the latest.
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// Run runs a short-lived cmd to its end under the same watch, and returns what it wrote.
func Run(ctx context.Context, cmd *exec.Cmd, dir string) ([]byte, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	p, err := Start(cmd, dir)
	if err != nil {
		return nil, err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
	}
	if err := p.Kill(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return out.Bytes(), context.Cause(ctx)
	}
	return out.Bytes(), p.err
}

// dismiss ends the watchdog before its pipe, so that it does nothing.
func (p *Process) dismiss() error {
	err := killIfAlive(p.watch.Process)
	_ = p.watch.Wait() // "killed"
	p.hold.Close()
	return err
}

// Kill ends the child with SIGKILL, frozen or not, if it has not ended, waits for it, and frees what watches it. It has to be called for
// each child, also for one that has ended. Calling it again does nothing.
func (p *Process) Kill() error {
	err := killIfAlive(p.cmd.Process)
	<-p.done
	return errors.Join(err, p.dismiss())
}

func killIfAlive(p *os.Process) error {
	if err := p.Kill(); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// Done is closed when the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err is how the child ended, as [exec.Cmd.Wait] says. It is valid once Done is closed.
func (p *Process) Err() error { return p.err }

// Ended says whether the child has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// PID is the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Freeze stops the child with SIGSTOP: its connections stay open, and it does nothing.
func (p *Process) Freeze() error { return freeze(p.cmd.Process) }

// Thaw lets a frozen child go on.
func (p *Process) Thaw() error { return thaw(p.cmd.Process) }

// Terminate asks the child to end, with SIGTERM. A frozen one does not hear it.
func (p *Process) Terminate() error { return terminate(p.cmd.Process) }

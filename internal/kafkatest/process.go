package kafkatest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
)

// process is a child that does not outlive us, whatever ends us: a panic, a test binary's timeout, SIGKILL.
//
// A watchdog makes sure of it: a shell that waits for the end of a pipe whose other end we hold. The system closes that end
// when we die, and the shell kills its own process group, which the child was started in. A parent-death signal would be
// less: only Linux has it, and there it is tied to the thread that started the child. The group cannot be mistaken for
// another one, as its number is the watchdog's own process id.
type process struct {
	cmd   *exec.Cmd
	done  chan struct{} // closed when the child has ended and was waited for
	err   error         // how the child ended; valid once done is closed
	watch *exec.Cmd
	hold  io.Closer // our end of the watchdog's pipe
}

// watchdog removes the folder first: nothing of the group survives the kill. It ignores SIGHUP, which the system sends to a group
// with a paused process in it when we die.
const watchdog = `trap '' HUP; read -r _; rm -rf -- "$1"; kill -9 -$$`

// startProcess starts cmd. Its folder dir is removed if we die before stopping it.
func startProcess(cmd *exec.Cmd, dir string) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{}), watch: exec.Command("sh", "-c", watchdog, "watchdog", dir)}
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
	// Ends with the child, which kill sees to at the latest.
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// run runs a short-lived cmd to its end under the same watch, and returns what it wrote.
func run(ctx context.Context, cmd *exec.Cmd, dir string) ([]byte, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	p, err := startProcess(cmd, dir)
	if err != nil {
		return nil, err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
	}
	if err := p.kill(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return out.Bytes(), context.Cause(ctx)
	}
	return out.Bytes(), p.err
}

// dismiss ends the watchdog before its pipe, so that it does nothing.
func (p *process) dismiss() error {
	err := killIfAlive(p.watch.Process)
	_ = p.watch.Wait() // "killed"
	p.hold.Close()
	return err
}

// kill ends the child with SIGKILL, if it has not ended, and the watchdog with it. Calling it again does nothing.
func (p *process) kill() error {
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

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

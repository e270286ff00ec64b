//go:build unix

package kit

import (
	"io"
	"os"
	"os/exec"
	"syscall"
)

// leash ends a process with ours, also when it is frozen then and when we are killed: a shell waits for the end of a pipe that we
// hold, and kills the process group that it shares with the process alone.
type leash struct {
	shell *exec.Cmd
	hold  io.Closer
}

// tether starts cmd on a leash.
func tether(cmd *exec.Cmd) (*leash, error) {
	l := &leash{shell: exec.Command("sh", "-c", "trap '' HUP; read -r _; kill -9 -$$")}
	hold, err := l.shell.StdinPipe()
	if err != nil {
		return nil, err
	}
	l.hold = hold
	l.shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := l.shell.Start(); err != nil {
		return nil, err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: l.shell.Process.Pid}
	if err := cmd.Start(); err != nil {
		l.pull(nil)
		return nil, err
	}
	return l, nil
}

// pull kills the process and frees the leash.
func (l *leash) pull(p *os.Process) {
	if p != nil {
		_ = p.Kill()
	}
	_ = l.shell.Process.Kill() // before its pipe ends, so that it does nothing
	_ = l.shell.Wait()
	_ = l.hold.Close()
}

func freeze(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }
func thaw(p *os.Process) error   { return p.Signal(syscall.SIGCONT) }

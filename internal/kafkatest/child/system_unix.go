//go:build unix

package child

import (
	"os"
	"os/exec"
	"syscall"
)

// inGroup makes cmd join a process group, or lead a new one if leader is 0. Such a group also gets no Ctrl-C: whoever
// started us does, and the watchdog sees our end.
func inGroup(cmd *exec.Cmd, leader int) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: leader}
}

func freeze(p *os.Process) error    { return p.Signal(syscall.SIGSTOP) }
func thaw(p *os.Process) error      { return p.Signal(syscall.SIGCONT) }
func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

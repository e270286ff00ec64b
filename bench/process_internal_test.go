//go:build unix

package main

import (
	"os/exec"
	"syscall"
	"testing"

	"github.com/evenkeel-go/evenkeel/bench/ledger"
)

// speaking starts a shell in place of a member.
func speaking(t *testing.T, script string) *process {
	p := &process{
		lab: &lab{ctx: t.Context()}, ledger: &ledger.Ledger{}, cmd: exec.Command("sh", "-c", script),
		states: make(chan state, 1), outcomes: make(chan outcome, 1), done: make(chan struct{}),
	}
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAMemberIsHeardToItsEnd(t *testing.T) {
	p := speaking(t, `read -r asked; echo "$asked 3000000 7"; cat >/dev/null; echo "state 4000000 8"`)
	if s, err := p.ask(); err != nil || s != (state{3, 7}) {
		t.Errorf("%+v, %v", s, err)
	}
	p.leave()
	<-p.done
	if last := <-p.states; last != (state{4, 8}) || p.errs != nil {
		t.Errorf("%+v, %v", last, p.errs)
	}
}

func TestAKilledMemberIsGone(t *testing.T) {
	p := speaking(t, "echo state 3000000 7; exec sleep 1000")
	<-p.states
	p.kill()
	if err := syscall.Kill(p.cmd.Process.Pid, 0); err == nil || p.errs == nil {
		t.Errorf("process %d is still there, or ended well: %v", p.cmd.Process.Pid, p.errs)
	}
}

//go:build unix

package child_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest/child"
)

// What was written before the end is there after it.
func TestTalk(t *testing.T) {
	p, in, out, err := child.Talk(exec.Command("sh", "-c", "read -r x; echo got $x; kill -9 $$"))
	if err != nil {
		t.Fatal(err)
	}
	if p.Ended() {
		t.Error("it has ended")
	}
	fmt.Fprintln(in, "word")
	<-p.Done()
	if all, err := io.ReadAll(out); err != nil || string(all) != "got word\n" {
		t.Errorf("%q, %v", all, err)
	}
	var exit *exec.ExitError
	if !errors.As(p.Err(), &exit) || !p.Ended() {
		t.Errorf("ended with %v", p.Err())
	}
	if err := errors.Join(p.Kill(), p.Kill()); err != nil {
		t.Error(err)
	}
}

func TestAFrozenChildDoesNotHearAndIsKilled(t *testing.T) {
	p, _, out, err := child.Talk(exec.Command("sh", "-c", "trap 'echo heard; exit' TERM; echo ready; while :; do sleep 0.01; done"))
	if err != nil {
		t.Fatal(err)
	}
	ready := make([]byte, 6)
	if _, err := io.ReadFull(out, ready); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{p.Freeze(), p.Terminate(), p.Kill()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if all, _ := io.ReadAll(out); len(all) > 0 {
		t.Errorf("it said %q", all)
	}
	if err := syscall.Kill(p.PID(), 0); err == nil {
		t.Errorf("process %d is still there", p.PID())
	}
}

func TestATerminatedChildEnds(t *testing.T) {
	p, err := child.Start(exec.Command("sleep", "1000"), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Terminate(); err != nil {
		t.Error(err)
	}
	<-p.Done()
	if err := p.Kill(); err != nil {
		t.Error(err)
	}
}

func TestRun(t *testing.T) {
	out, err := child.Run(t.Context(), exec.Command("echo", "said"), "")
	if err != nil || strings.TrimSpace(string(out)) != "said" {
		t.Errorf("%q, %v", out, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := child.Run(ctx, exec.Command("sleep", "1000"), ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a command that does not end: %v", err)
	}
	if _, err := child.Start(exec.Command("there-is-no-such-program"), ""); err == nil {
		t.Error("a program that does not exist was started")
	}
}

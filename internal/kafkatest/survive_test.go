package kafkatest_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// envVictim makes the test binary a program that starts a node and then ends in the way it says.
const envVictim = "KAFKATEST_VICTIM"

func TestNodeDoesNotOutliveItsTestBinary(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"sigkill", "panic", "paused"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			pid, dir := victim(t, end)
			for alive(pid) || exists(dir) {
				select {
				case <-t.Context().Done():
					t.Fatalf("node %d or its folder %s outlived the program", pid, dir)
				case <-time.After(10 * time.Millisecond):
				}
			}
		})
	}
}

// victim runs the program to its end and returns what it had started.
func victim(t *testing.T, end string) (pid int, dir string) {
	kafkatest.NeedKafka(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), envVictim+"="+end)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, err := fmt.Sscan(lines.Text(), &pid, &dir); err == nil {
			break
		}
	}
	if pid == 0 || !alive(pid) {
		t.Fatal("the program started no node", cmd.Wait())
	}
	if end == "sigkill" || end == "paused" {
		must(t, cmd.Process.Kill())
	}
	for lines.Scan() { // to the end of its output
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the program ended well")
	}
	return pid, dir
}

// runVictim is the program.
func runVictim(end string) {
	n, err := kafkatest.StartKafka(context.Background(), kafkatest.Options{})
	if err != nil {
		panic(err)
	}
	if end == "paused" {
		err = n.Pause()
	}
	fmt.Println(n.PID(), n.Dir(), err)
	switch end {
	case "panic":
		panic("a test's panic")
	default:
		select {}
	}
}

// alive says whether a process runs: one that ended and waits to be reaped does not.
func alive(pid int) bool {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		return !strings.Contains(string(stat), ") Z ")
	}
	process, err := os.FindProcess(pid)
	return err == nil && process.Signal(syscall.Signal(0)) == nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Package examples_test runs each example as its user would: built, in a process of its own, to its end.
package examples_test

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

var (
	shared   kafkatest.Shared
	programs string // folder of the built examples
)

// atOnce is how many tests may run together: they wait for programs that wait, so the number of cores does not matter.
const atOnce = "6"

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := build()
	if err = errors.Join(err, flag.Set("test.parallel", atOnce)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	programs = dir
	shared.Run(m)
	os.RemoveAll(programs)
}

// build makes all examples, under the race detector when this test runs under it.
func build() (string, error) {
	dir, err := os.MkdirTemp("", "evenkeel-examples-")
	if err != nil {
		return "", err
	}
	args := []string{"build", "-o", dir + string(filepath.Separator)}
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		args = append(args, "-race")
	}
	out, err := exec.Command("go", append(args, "./...")...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the examples: %w\n%s", errors.Join(err, os.RemoveAll(dir)), out)
	}
	return dir, nil
}

// program is an example that runs. It is killed if it still runs when the test ends.
type program struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner // of its output
	seen  []string
	errs  bytes.Buffer // its error output, to be read after the end
}

// start runs an example. extra is its environment, beside ours.
func start(t *testing.T, name string, extra []string, args ...string) *program {
	t.Helper()
	p := &program{cmd: exec.CommandContext(t.Context(), filepath.Join(programs, name), args...)}
	p.cmd.Env = append(os.Environ(), extra...)
	p.cmd.Stderr = &p.errs
	out, err := p.cmd.StdoutPipe()
	must(t, err)
	must(t, p.cmd.Start())
	p.lines = bufio.NewScanner(out)
	return p
}

// next returns the next line of the output, false at its end.
func (p *program) next() (string, bool) {
	if !p.lines.Scan() {
		return "", false
	}
	p.seen = append(p.seen, p.lines.Text())
	return p.lines.Text(), true
}

// await reads the output up to a line that contains all of the parts, and returns that line.
func (p *program) await(t *testing.T, parts ...string) string {
	t.Helper()
	for line, ok := p.next(); ok; line, ok = p.next() {
		if containsAll(line, parts) {
			return line
		}
	}
	code := p.end(t)
	t.Fatalf("%s ended with %d and without a line that contains %q:\n%s", p.cmd.Path, code, parts, p.transcript())
	return ""
}

func containsAll(line string, parts []string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) })
}

func (p *program) signal(t *testing.T, s os.Signal) {
	t.Helper()
	must(t, p.cmd.Process.Signal(s))
}

// end waits for the end of the program and returns its exit code.
func (p *program) end(t *testing.T) int {
	t.Helper()
	for _, ok := p.next(); ok; _, ok = p.next() {
	}
	err := p.cmd.Wait()
	if _, exit := errors.AsType[*exec.ExitError](err); !exit {
		must(t, err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// wantEnd waits for the end and checks the exit code.
func (p *program) wantEnd(t *testing.T, code int) {
	t.Helper()
	if got := p.end(t); got != code {
		t.Fatalf("%s ended with %d, want %d:\n%s", p.cmd.Path, got, code, p.transcript())
	}
	if strings.Contains(p.errs.String(), "DATA RACE") {
		t.Errorf("%s has a data race:\n%s", p.cmd.Path, p.transcript())
	}
}

func (p *program) transcript() string { return strings.Join(p.seen, "\n") + "\n" + p.errs.String() }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantCommitted asks the broker.
func wantCommitted(t *testing.T, b kafkatest.Broker, group, topic string, want ...int64) {
	t.Helper()
	for partition, offset := range want {
		got, _, err := b.Committed(group, topic, int32(partition))
		must(t, err)
		if got != offset {
			t.Errorf("committed %s/%d: %d, want %d", topic, partition, got, offset)
		}
	}
}

// wantLeft asks the broker whether the group has a member: one that left without notice stays until its session times out.
func wantLeft(t *testing.T, b kafkatest.Broker, group string) {
	t.Helper()
	description, err := b.Group(group)
	must(t, err)
	if len(description.Members) > 0 {
		t.Errorf("group %s still has %d members, state %s", group, len(description.Members), description.State)
	}
}

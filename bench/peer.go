package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// The yardstick for orders other than by partition is Confluent's Parallel Consumer, in a Java program of ours: a process that
// reads the same topic from the same broker, in turns with ours.

//go:embed parallelconsumer
var javaSources embed.FS

const parallelConsumer = "parallel-consumer-0.5.3.3"

// javaPeer is the programs, ready to run.
type javaPeer struct {
	java, path string // path: jars and our classes
}

// peer runs a load with the Parallel Consumer. Where that cannot be had the row says so and goes without.
func (l *lab) peer(w load, f *filled) (o outcome, measured bool, err error) {
	if !l.findJava() {
		return o, false, nil
	}
	o, err = l.java.run(l.ctx, w, f, l.name("peer"))
	return o, err == nil, err
}

// findJava prepares the program at its first call.
func (l *lab) findJava() bool {
	if l.alone || l.java != nil {
		return !l.alone
	}
	var err error
	if l.java, err = newJavaPeer(l.ctx, l.temp); err != nil {
		l.alone = true
		l.say("without the Parallel Consumer, so that the baseline is none: " + err.Error())
	}
	return !l.alone
}

func newJavaPeer(ctx context.Context, temp string) (*javaPeer, error) {
	java, err := program("java")
	if err != nil {
		return nil, err
	}
	javac, err := program("javac")
	if err != nil {
		return nil, err
	}
	lib, err := jars(ctx, temp)
	if err != nil {
		return nil, err
	}
	jars := filepath.Join(lib, "*")
	compile := exec.CommandContext(ctx, javac, "-cp", jars, "-d", temp)
	for _, name := range []string{"Measure.java", "Member.java"} {
		source, err := unpack(temp, name)
		if err != nil {
			return nil, err
		}
		compile.Args = append(compile.Args, source)
	}
	if out, err := compile.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compile the programs of the Parallel Consumer: %w\n%s", err, out)
	}
	return &javaPeer{java: java, path: jars + string(os.PathListSeparator) + temp}, nil
}

// program is the path of one of Java's programs: JAVA_HOME's, else the first on the PATH.
func program(name string) (string, error) {
	at := name
	if home := os.Getenv("JAVA_HOME"); home != "" {
		at = filepath.Join(home, "bin", name)
	}
	found, err := exec.LookPath(at)
	if err != nil {
		return "", fmt.Errorf("no %s here: install Java 17 with its compiler, and Maven (Debian: apt-get install openjdk-17-jdk-headless maven)", name)
	}
	return found, nil
}

// jars is the folder of the Parallel Consumer's jars, which Maven fetches once.
func jars(ctx context.Context, temp string) (string, error) {
	root := os.Getenv(kafkatest.EnvCache)
	if root == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no folder for jars, set %s: %w", kafkatest.EnvCache, err)
		}
		root = filepath.Join(user, "evenkeel-kafka")
	}
	dir := filepath.Join(root, parallelConsumer)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", err
	}
	return dir, fetch(ctx, temp, dir)
}

// fetch gives the folder its name when it is complete. Somebody else may have been faster.
func fetch(ctx context.Context, temp, dir string) error {
	if _, err := unpack(temp, "pom.xml"); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), "fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	cmd := exec.CommandContext(ctx, "mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory="+fresh, "-DincludeScope=runtime")
	cmd.Dir = temp
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("fetch the jars with Maven (Debian: apt-get install maven): %w\n%s", err, out)
	}
	if err := os.Rename(fresh, dir); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}

func unpack(dir, name string) (string, error) {
	data, err := javaSources.ReadFile("parallelconsumer/" + name)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	return path, os.WriteFile(path, data, 0o600)
}

// run starts the program and waits for its end. It ends by itself, at the latest when we do: its standard input is a pipe of ours.
func (p *javaPeer) run(ctx context.Context, w load, f *filled, group string) (outcome, error) {
	limit := w.limit
	if limit == 0 {
		limit = patience
	}
	ctx, cancel := context.WithTimeout(ctx, limit+patience)
	defer cancel()
	cmd := p.command(ctx, "Measure", arguments(w, f, group, limit))
	hold, err := cmd.StdinPipe()
	if err != nil {
		return outcome{}, err
	}
	defer hold.Close()
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		return outcome{}, fmt.Errorf("%w\n%s", err, log.Bytes())
	}
	return parseOutcome(out.String())
}

func (p *javaPeer) command(ctx context.Context, class string, arguments []string) *exec.Cmd {
	flags := []string{"-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", p.path, class}
	return exec.CommandContext(ctx, p.java, append(flags, arguments...)...)
}

// member is the process of a member that tells of its tasks: see Member.java.
func (p *javaPeer) member(ctx context.Context, s spec) *exec.Cmd {
	return p.command(ctx, "Member", s.javaArguments())
}

func arguments(w load, f *filled, group string, limit time.Duration) []string {
	return []string{
		strings.Join(f.broker.Addrs(), ","), f.name, group, javaOrder(w.order), strconv.Itoa(w.slots),
		strconv.FormatInt(w.task.Milliseconds(), 10), strconv.Itoa(w.tasks), strconv.Itoa(int(limit.Seconds())),
	}
}

func javaOrder(o handler.Order) string {
	switch o {
	case handler.ByKey:
		return "KEY"
	case handler.None:
		return "UNORDERED"
	default:
		return "PARTITION"
	}
}

// parseOutcome reads the program's line: tasks, nanoseconds from the first start to the last end, nanoseconds in tasks.
func parseOutcome(line string) (o outcome, err error) {
	if _, err := fmt.Sscan(line, &o.done, &o.wall, &o.busy); err != nil {
		return o, fmt.Errorf("unexpected output %q: %w", line, err)
	}
	if o.done < 1 || o.wall < 1 {
		return o, fmt.Errorf("nothing was done: %q", line)
	}
	return o, nil
}

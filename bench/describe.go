package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/evenkeel-go/evenkeel/bench/record"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// describe says what a reader has to know of the machine and of the versions.
func describe(ctx context.Context, arguments []string) *record.Run {
	r := &record.Run{
		Began: time.Now().UTC().Truncate(time.Second), Command: strings.TrimSpace("go run . " + quoted(arguments)),
		Commit: output(ctx, "git", "describe", "--always", "--dirty"), CPU: runtime.GOARCH, Cores: runtime.NumCPU(),
		OS: runtime.GOOS, Go: runtime.Version(), Kafka: kafkatest.Newest, Peers: map[string]string{}, Modules: modules(),
	}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		r.CPU = valueOf(string(text), "model name", ":")
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		kilobytes, _ := fieldOf(string(text), "MemTotal:") // 0 where it is missing
		r.MemoryMB = int(kilobytes / 1024)
	}
	if text, err := os.ReadFile("/etc/os-release"); err == nil {
		r.OS = strings.Trim(valueOf(string(text), "PRETTY_NAME", "="), `"`) + ", kernel " + output(ctx, "uname", "-r")
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		r.Load, _ = fieldOf(string(text), "") // 0 where it is missing
	}
	if err := kafkatest.Available(); err != nil {
		r.Kafka = "none"
	}
	if java, err := program("java"); err == nil {
		r.Java = output(ctx, java, "--version")
	}
	for _, s := range sides() {
		r.Peers[s.name] = s.says
	}
	return r
}

// describeRows writes what a run of all rows would say before it measures anything, for the report to tell what is out of date.
func describeRows(ctx context.Context, out io.Writer) error {
	w := record.NewWriter(out)
	err := w.Write(record.Line{Run: describe(ctx, nil)})
	for _, r := range rows() {
		err = errors.Join(err, w.Write(record.Line{Row: r.recorded()}))
	}
	return err
}

// quoted puts arguments that a shell would take apart into quotes.
func quoted(arguments []string) string {
	list := make([]string, len(arguments))
	for i, a := range arguments {
		if list[i] = a; a == "" || strings.ContainsAny(a, " |*?()[]$^") {
			list[i] = "'" + a + "'"
		}
	}
	return strings.Join(list, " ")
}

// valueOf is what stands behind the separator in the line that begins with a word.
func valueOf(text, word, separator string) string {
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(line, separator); ok && strings.TrimSpace(name) == word {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// output is the first line that a program prints, or nothing.
func output(ctx context.Context, name string, arguments ...string) string {
	out, err := exec.CommandContext(ctx, name, arguments...).Output()
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line)
}

// modules are the versions of the libraries that are compared.
func modules() map[string]string {
	list := map[string]string{}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return list
	}
	for _, m := range info.Deps {
		switch m.Path {
		case "github.com/IBM/sarama", "github.com/twmb/franz-go", "github.com/segmentio/kafka-go",
			"github.com/ThreeDotsLabs/watermill", "github.com/ThreeDotsLabs/watermill-kafka/v3":
			list[m.Path] = m.Version
		}
	}
	return list
}

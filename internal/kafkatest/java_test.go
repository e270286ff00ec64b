package kafkatest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

func TestWithoutJavaAndMaven(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("JAVA_HOME", "")
	for mode, required := range map[string]bool{"": false, "auto": false, "off": false, "require": true, "requier": true} {
		t.Setenv(kafkatest.EnvMode, mode)
		if err := kafkatest.Available(); !errors.Is(err, kafkatest.ErrUnavailable) {
			t.Errorf("%s=%q: %v", kafkatest.EnvMode, mode, err)
		}
		if kafkatest.Required() != required {
			t.Errorf("%s=%q is required: %t", kafkatest.EnvMode, mode, !required)
		}
	}
}

// envSkipper makes the test binary a test run of its own that borrows a node for two tests.
const envSkipper = "KAFKATEST_SKIPPER"

func TestBorrow(t *testing.T) {
	if os.Getenv(envSkipper) == "" {
		return // it is another test's subject
	}
	for _, version := range []string{kafkatest.Newest, kafkatest.Oldest} {
		t.Run(version, func(t *testing.T) { shared.Kafka(t, version) })
	}
}

func TestSkippedSuitesAreToldInOneLine(t *testing.T) {
	for mode, want := range map[string]struct {
		lines int
		fails bool
	}{"auto": {lines: 1}, "off": {lines: 0}, "require": {lines: 1, fails: true}} {
		t.Run(mode, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBorrow$")
			cmd.Env = []string{envSkipper + "=1", kafkatest.EnvMode + "=" + mode, "PATH=" + t.TempDir()}
			var stderr strings.Builder
			cmd.Stderr = &stderr
			err := cmd.Run()
			if (err != nil) != want.fails {
				t.Error("the run ended with", err)
			}
			if lines := strings.Count(stderr.String(), "\n"); lines != want.lines {
				t.Errorf("want %d lines:\n%s", want.lines, stderr.String())
			}
		})
	}
}

// A failed start says what the node's log says, and leaves nothing running.
func TestFailedStartShowsTheLog(t *testing.T) {
	kafkatest.NeedKafka(t)
	_, err := kafkatest.StartKafka(t.Context(), kafkatest.Options{Properties: map[string]string{"min.insync.replicas": "none"}})
	if err == nil || !strings.Contains(err.Error(), "Invalid value none for configuration min.insync.replicas") {
		t.Error("the reason is not in the error:", err)
	}
}

// Two programs that find an empty cache fetch into it once, and both get a whole folder.
func TestConcurrentFetches(t *testing.T) {
	kafkatest.NeedKafka(t)
	cache := t.TempDir()
	t.Setenv("PATH", stubMaven(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv(kafkatest.EnvCache, cache)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	errs := make(chan error, 4)
	for range cap(errs) {
		// Ends with the start, which has no jars to run.
		go func() {
			_, err := kafkatest.StartKafka(ctx, kafkatest.Options{})
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err == nil || !strings.Contains(err.Error(), "StorageTool") {
			t.Error("a start without Kafka's classes:", err)
		}
	}
	folders, err := filepath.Glob(filepath.Join(cache, kafkatest.Newest+"*", "fetches"))
	must(t, err)
	if len(folders) != 1 {
		t.Fatalf("fetched into %v", folders)
	}
	fetches, err := os.ReadFile(folders[0])
	must(t, err)
	if string(fetches) != "one\n" {
		t.Errorf("fetched: %q", fetches)
	}
}

// stubMaven is a folder with an mvn that makes a folder without jars, slowly.
func stubMaven(t *testing.T) string {
	dir := t.TempDir()
	const script = "#!/bin/sh\nmkdir lib\nsleep 0.2\necho one >> lib/fetches\n"
	must(t, os.WriteFile(filepath.Join(dir, "mvn"), []byte(script), 0o755))
	return dir
}

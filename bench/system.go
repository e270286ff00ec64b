package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// What the system knows of a process, where it has a /proc as Linux does.

var errNoProc = errors.New("this system has no /proc as Linux has it")

// cpuTime is the processor time that the threads of the process have used, those that have ended left out: a process that is at rest
// has none of these.
func cpuTime(pid int) (sum time.Duration, err error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(threads) == 0 {
		return 0, errNoProc
	}
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has just ended
		}
		used, err := parseCPUTime(string(text))
		if err != nil {
			return 0, err
		}
		sum += used
	}
	return sum, nil
}

// parseCPUTime reads a thread's schedstat: the first of its numbers is the nanoseconds that it has run.
func parseCPUTime(text string) (used time.Duration, err error) {
	if _, err := fmt.Sscan(text, &used); err != nil {
		return 0, fmt.Errorf("unexpected thread state %q: %w", text, err)
	}
	return used, nil
}

// residentMemory is in megabytes.
func residentMemory(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, errors.Join(errNoProc, err)
	}
	kilobytes, err := fieldOf(string(text), "VmRSS:")
	return kilobytes * 1024 / megabyte, err
}

// fieldOf is the number after a word at the start of a line.
func fieldOf(text, word string) (float64, error) {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, word); ok {
			var n float64
			_, err := fmt.Sscan(rest, &n)
			return n, err
		}
	}
	return 0, fmt.Errorf("no %s in what the system says", word)
}

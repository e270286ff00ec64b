// Command report makes docs/benchmarks.md and its charts of what bench has left in a file. It measures nothing, and what it writes has no
// figure that is not in the file.
//
//	go run . -describe | go run ./report [-from ../docs/benchmarks/results.jsonl] [-to ../docs] [-now -]
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evenkeel-go/evenkeel/bench/record"
)

func main() {
	from := flag.String("from", "../docs/benchmarks/results.jsonl", "what was measured: the `file` that bench -results has written")
	to := flag.String("to", "../docs", "the `folder` to write benchmarks.md and benchmarks/*.svg to")
	now := flag.String("now", "", "what the rows are today: the `file` that bench -describe has written, - for the standard input; else nothing is known to be out of date")
	flag.Parse()
	if err := write(*from, *to, *now); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func write(from, to, now string) error {
	lines, err := record.Read(from)
	if err != nil {
		return fmt.Errorf("read %s: %w", from, err)
	}
	b := bookOf(lines)
	if len(b.sections) == 0 {
		return fmt.Errorf("%s has no rows: measure some with make bench-report", from)
	}
	if now != "" {
		today, err := readNow(now)
		if err != nil {
			return fmt.Errorf("read %s: %w", now, err)
		}
		b.compare(bookOf(today))
	}
	folder := filepath.Join(to, "benchmarks")
	if err := removeCharts(folder); err != nil {
		return err
	}
	for _, s := range b.sections {
		for _, c := range s.charts() {
			if err := c.save(filepath.Join(folder, c.file), b.sides()); err != nil {
				return fmt.Errorf("chart %s: %w", c.file, err)
			}
		}
	}
	return os.WriteFile(filepath.Join(to, "benchmarks.md"), []byte(b.page()), 0o644)
}

// readNow reads what bench -describe has written.
func readNow(path string) ([]record.Line, error) {
	if path == "-" {
		return record.Parse(os.Stdin)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return record.Parse(f)
}

// removeCharts removes the charts of another report.
func removeCharts(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(folder, "*.svg"))
	for _, path := range old {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

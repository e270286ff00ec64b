// Command bench measures what the documentation claims, and prints one line a figure:
//
//	name value unit baseline baseline_value ratio
//
// Value and baseline are measured in the same run, in turns where they would disturb each other, so that the ratio means something on
// a machine that is shared and noisy. Lines that start with # say what a row measures, from when to when, and what was aimed at, and
// "# MISSED" follows a figure that falls short of it.
// Rows that need a broker start a real Kafka (Java and Maven); noop_partition runs on the in-process one. The rows with tasks by key
// or without order compare with Confluent's Parallel Consumer, whose jars Maven fetches once, and which is compiled and run with Java 17.
// Where these are missing a note says so and the rows measure this library alone.
//
// With -results the figures are appended to a file, one JSON object a line, from which report/ makes docs/benchmarks.md.
//
//	go run . [-run regexp] [-list] [-rounds n] [-alone] [-results file] [-cpuprofile file]
//	go run . -describe
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime/pprof"

	"github.com/evenkeel-go/evenkeel/bench/record"
)

func main() {
	if text, ok := os.LookupEnv(memberEnv); ok {
		os.Exit(beMember(text))
	}
	pattern := flag.String("run", "", "run the rows whose name matches this regular expression; default all")
	list := flag.Bool("list", false, "list the rows and what they measure")
	rounds := flag.Int("rounds", 0, "rounds of the rows that compare in turns; default 0: as many as each row says")
	alone := flag.Bool("alone", false, "leave the Parallel Consumer out")
	results := flag.String("results", "", "append the figures to a file, one JSON object a line")
	pictures := flag.String("pictures", "", "measure nothing, and draw planned changes into a folder")
	says := flag.Bool("describe", false, "measure nothing, and write what each row would measure, one JSON object a line")
	profile := flag.String("cpuprofile", "", "write a CPU profile of this process to a file")
	flag.Parse()
	re, err := regexp.Compile(*pattern)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: -run:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	failed := measure(ctx, options{rows: re, list: *list, rounds: *rounds, alone: *alone, results: *results, profile: *profile, pictures: *pictures, says: *says})
	stop()
	if failed {
		os.Exit(1)
	}
}

type options struct {
	rows    *regexp.Regexp
	list    bool
	rounds  int
	alone   bool
	results string
	profile string

	pictures string
	says     bool
}

// measure reports whether something could not be measured.
func measure(ctx context.Context, o options) (failed bool) {
	if o.says {
		if err := describeRows(ctx, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "bench: -describe:", err)
			return true
		}
		return false
	}
	end, err := profileTo(o.profile)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: -cpuprofile:", err)
		return true
	}
	defer end()
	l, err := newLab(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return true
	}
	defer l.close()
	l.rounds, l.alone = o.rounds, o.alone
	if o.results != "" && !o.list {
		f, err := os.OpenFile(o.results, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench: -results:", err)
			return true
		}
		defer f.Close()
		l.record = record.NewWriter(f)
		l.keep(record.Line{Run: describe(l.ctx, os.Args[1:])})
	}
	if o.pictures != "" {
		if err := draw(l, o.pictures); err != nil {
			fmt.Fprintln(os.Stderr, "bench: -pictures:", err)
			return true
		}
		return false
	}
	return run(l, o.rows, o.list)
}

// profileTo profiles until end is called. Without a path it does nothing.
func profileTo(path string) (end func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		_ = f.Close()
	}, nil
}

// tell prints a figure, and what has to be known of it: that it has missed an aim, or that its value is only what it is at least.
func tell(f figure) {
	fmt.Println(f)
	if f.waiting {
		fmt.Printf("# WAITING %s: it had not happened when a round ended, the value is less than it is\n", f.name)
	}
	for _, aim := range f.missed() {
		fmt.Printf("# MISSED %s: %s was aimed at\n", f.name, aim)
	}
}

// run measures a row, and reports whether it could not.
func (r row) run(l *lab) (failed bool) {
	l.keep(record.Line{Row: r.recorded()})
	figures, err := r.measure(l)
	for _, f := range figures {
		tell(f)
		l.keep(record.Line{Figure: f.recorded(r.name)})
	}
	if err != nil {
		l.keep(record.Line{Absent: &record.Absent{Row: r.name, Why: err.Error()}})
		fmt.Fprintf(os.Stderr, "bench: %s: %v\n", r.name, err)
	}
	return err != nil
}

// run prints the rows that match, and reports whether one could not be measured or none matched.
func run(l *lab, re *regexp.Regexp, list bool) (failed bool) {
	matched := false
	for _, r := range rows() {
		if !re.MatchString(r.name) {
			continue
		}
		matched = true
		fmt.Printf("# %s: %s\n", r.name, r.what)
		if list {
			continue
		}
		failed = r.run(l) || failed
		if l.ctx.Err() != nil {
			return true
		}
	}
	if !matched {
		fmt.Fprintln(os.Stderr, "bench: no row matches", re)
	}
	return failed || !matched
}

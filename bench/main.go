// Command bench measures what the documentation claims, and prints one line a figure:
//
//	name value unit baseline baseline_value ratio
//
// Value and baseline are measured in the same run, in turns where they would disturb each other, so that the ratio means something on
// a machine that is shared and noisy. Lines that start with # say what a row measures, from when to when, and what was aimed at.
// Rows that need a broker start a real Kafka (Java and Maven); noop_partition runs on the in-process one.
//
//	go run . [-run regexp] [-list]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
)

func main() {
	pattern := flag.String("run", "", "run the rows whose name matches this regular expression; default all")
	list := flag.Bool("list", false, "list the rows and what they measure")
	flag.Parse()
	re, err := regexp.Compile(*pattern)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: -run:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	failed := run(ctx, re, *list)
	stop()
	if failed {
		os.Exit(1)
	}
}

// run prints the rows that match, and reports whether one could not be measured or none matched.
func run(ctx context.Context, re *regexp.Regexp, list bool) (failed bool) {
	lab := &lab{ctx: ctx}
	defer lab.close()
	matched := false
	for _, r := range rows {
		if !re.MatchString(r.name) {
			continue
		}
		matched = true
		fmt.Printf("# %s: %s\n", r.name, r.what)
		if list {
			continue
		}
		figures, err := r.measure(lab)
		for _, f := range figures {
			fmt.Println(f)
		}
		if err != nil {
			failed = true
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", r.name, err)
		}
		if ctx.Err() != nil {
			return true
		}
	}
	if !matched {
		fmt.Fprintln(os.Stderr, "bench: no row matches", re)
	}
	return failed || !matched
}

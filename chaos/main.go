// Command chaos is the fault laboratory: it runs members of evenkeel as processes of their own against a real Kafka of three nodes, breaks
// both, and holds what they have written down against what is promised.
//
//	go run . [-seed n] [-minutes n] [-nemesis regexp] [-out folder]    break things for a while, and check
//	go run . -soak hours                                               the same for hours, at a pace that wears nobody out
//	go run . -check folder                                             check the ledger of an earlier run again
//	go run . -list                                                     print what can be broken
//
// It prints what was tried and what came of it, writes the ledger and a timeline into the folder, and ends with status 1 on any
// violation. It needs a Unix, Java 17 and Maven, as internal/kafkatest does, and everything it starts is on loopback and ends with it.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/check"
	"github.com/evenkeel-go/evenkeel/chaos/ledger"
	"github.com/evenkeel-go/evenkeel/chaos/member"
	"github.com/evenkeel-go/evenkeel/chaos/nemesis"
	"github.com/evenkeel-go/evenkeel/chaos/timeline"
)

func main() {
	if order := os.Getenv(member.Env); order != "" {
		os.Exit(member.Serve(order))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second one ends the program at once
	code, err := obey(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
	}
	os.Exit(code)
}

// options are those of the command line.
type options struct {
	seed    uint64
	length  time.Duration
	soak    bool
	nemesis *regexp.Regexp
	out     string
	check   string
	list    bool
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("chaos", flag.ContinueOnError)
	f.Uint64Var(&o.seed, "seed", 0, "of the tasks and of the schedule of faults; 0 draws one")
	minutes := f.Float64("minutes", 3, "how long faults are made")
	hours := f.Float64("soak", 0, "make faults for that many hours, at a slower pace")
	pattern := f.String("nemesis", "", "make only faults whose name matches this regular expression, of "+strings.Join(nemesis.Names(), ", "))
	f.StringVar(&o.out, "out", "", "folder for the ledger and the timeline; default: out/<seed>")
	f.StringVar(&o.check, "check", "", "check the ledger in this folder again")
	f.BoolVar(&o.list, "list", false, "print what can be broken")
	if err = f.Parse(args); err != nil {
		return o, err
	}
	o.length, o.soak = time.Duration(*minutes*float64(time.Minute)), *hours > 0
	if o.soak {
		o.length = time.Duration(*hours * float64(time.Hour))
	}
	if o.length < 30*time.Second {
		return o, fmt.Errorf("-minutes %v is too short for a fault: give 0.5 or more", *minutes)
	}
	if o.seed == 0 {
		o.seed = rand.Uint64N(1 << 32)
	}
	if o.out == "" {
		o.out = filepath.Join("out", strconv.FormatUint(o.seed, 10))
	}
	if o.nemesis, err = regexp.Compile(*pattern); err != nil {
		return o, fmt.Errorf("-nemesis: %w", err)
	}
	return o, nil
}

// obey returns the status of the program.
func obey(ctx context.Context, args []string) (status int, err error) {
	o, err := parse(args)
	if err != nil {
		return 2, err
	}
	switch {
	case o.list:
		list()
		return 0, nil
	case o.check != "":
		return again(o)
	}
	return run(ctx, o)
}

func list() {
	for _, name := range nemesis.Names() {
		fmt.Printf("%-18s %s\n", name, nemesis.What(name))
	}
	for name, why := range nemesis.NotTried {
		fmt.Printf("%-18s not tried: %s\n", name, why)
	}
}

// again checks a ledger that was written before.
func again(o options) (int, error) {
	in, err := os.Open(filepath.Join(o.check, ledgerFile))
	if err != nil {
		return 2, err
	}
	defer in.Close()
	book, err := ledger.Read(in)
	if err != nil {
		return 2, err
	}
	return judge(book, o.check)
}

const (
	ledgerFile   = "ledger.jsonl"
	timelineFile = "timeline.html"
)

// judge checks, prints and draws.
func judge(book *ledger.Book, out string) (status int, err error) {
	report := check.Check(book)
	report.Print(os.Stdout)
	report.Summary(os.Stdout)
	tellNotTried(report)
	if err := timeline.Write(filepath.Join(out, timelineFile), book, marks(report)); err != nil {
		return 2, err
	}
	fmt.Printf("timeline: %s\nledger:   %s\n", filepath.Join(out, timelineFile), filepath.Join(out, ledgerFile))
	if n := len(report.Violations); n > 0 {
		fmt.Println()
		report.Titles(os.Stdout) // once more: of a long output often the end alone is kept
		fmt.Printf("\n%d VIOLATIONS of %s with seed %d\n", n, strings.Join(report.Broken(), ", "), book.Header.Seed)
		return 1, nil
	}
	fmt.Printf("\nno violation with seed %d\n", book.Header.Seed)
	return 0, nil
}

// marks are the violations for the picture.
func marks(r *check.Report) (list []timeline.Mark) {
	for _, v := range r.Violations {
		m := timeline.Mark{At: v.At, Text: v.Rule + ": " + v.Text}
		m.Group, m.Partition = v.Place()
		list = append(list, m)
	}
	return list
}

// tellNotTried names the nemeses that a run has not had: a short one does not have them all.
func tellNotTried(r *check.Report) {
	for _, name := range nemesis.Names() {
		if r.Faults[name] == 0 {
			fmt.Printf("not tried: %s, left out %d times because another fault had what it is for\n", name, r.LeftOut[name])
		}
	}
	for name, why := range nemesis.NotTried {
		fmt.Printf("not tried: %s: %s\n", name, why)
	}
}

// Command chaos is the fault laboratory: it runs members of evenkeel as processes of their own against a real Kafka of three nodes, breaks
// both, and holds what they have written down against what is promised.
//
//	go run . [-seed n] [-minutes n] [-nemesis regexp] [-out folder]    break things for a while, and check
//	go run . -soak hours                                               the same for hours, at a pace that wears nobody out
//	go run . -check folder                                             check the ledger of an earlier run again
//	go run . -list                                                     print what can be broken
//
// It prints what was tried and what came of it, writes the ledger and a timeline into the folder, and ends with status 1 on any
// violation, and with 2 where something could not be tried or told. It needs a Unix, Java 17 and Maven, as internal/kafkatest does, and everything it starts is on loopback and ends with it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
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
	code, err := obey(ctx, os.Args[1:], os.Stdout)
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

// shortestSoak is how long a process has to live for its memory to say something, and somewhat more.
const shortestSoak = 12 * time.Minute

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
	switch {
	case o.soak && o.length < shortestSoak:
		return o, fmt.Errorf("-soak %v is too short to tell whether memory stays level: give %v or more", *hours, shortestSoak.Hours())
	case o.length < 30*time.Second:
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

// obey returns the status of the program: 0 where all holds, 1 for violations, 2 where it could not be tried or told.
func obey(ctx context.Context, args []string, out io.Writer) (status int, err error) {
	o, err := parse(args)
	if err != nil {
		return 2, err
	}
	switch {
	case o.list:
		list(out)
		return 0, nil
	case o.check != "":
		return again(o, out)
	}
	return run(ctx, o, out)
}

func list(out io.Writer) {
	for _, name := range nemesis.Names() {
		fmt.Fprintf(out, "%-18s %s\n", name, nemesis.What(name))
	}
	for _, name := range slices.Sorted(maps.Keys(nemesis.NotTried)) {
		fmt.Fprintf(out, "%-18s not tried: %s\n", name, nemesis.NotTried[name])
	}
}

// again checks a ledger that was written before.
func again(o options, out io.Writer) (int, error) {
	in, err := os.Open(filepath.Join(o.check, ledgerFile))
	if err != nil {
		return 2, err
	}
	defer in.Close()
	book, err := ledger.Read(in)
	if err != nil {
		return 2, err
	}
	return o.judge(book, o.check, out)
}

const (
	ledgerFile   = "ledger.jsonl"
	timelineFile = "timeline.html"
)

// judge checks, prints and draws.
func (o options) judge(book *ledger.Book, folder string, out io.Writer) (status int, err error) {
	report := check.Check(book)
	report.Print(out)
	report.Summary(out)
	tellNotTried(report, out)
	picture := filepath.Join(folder, timelineFile)
	if err := timeline.Write(picture, book, marks(report)); err != nil {
		return 2, err
	}
	fmt.Fprintf(out, "timeline: %s\nledger:   %s\n", picture, filepath.Join(folder, ledgerFile))
	if n := len(report.Violations); n > 0 {
		fmt.Fprintln(out)
		report.Titles(out) // once more: of a long output often the end alone is kept
		fmt.Fprintf(out, "\n%d VIOLATIONS of %s with seed %d\n", n, strings.Join(report.Broken(), ", "), book.Header.Seed)
		return 1, nil
	}
	if why := report.Unchecked["L7"]; o.soak && why != "" {
		return 2, fmt.Errorf("the soak does not say whether memory stays level: %s", why)
	}
	fmt.Fprintf(out, "\nno violation with seed %d\n", book.Header.Seed)
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
func tellNotTried(r *check.Report, out io.Writer) {
	for _, name := range nemesis.Names() {
		if r.Faults[name] > 0 {
			continue
		}
		why := ""
		if n := r.LeftOut[name]; n > 0 {
			why = fmt.Sprintf(", left out %d times because another fault had what it is for, or because there was nothing left to do", n)
		}
		fmt.Fprintf(out, "not tried: %s%s\n", name, why)
	}
	for _, name := range slices.Sorted(maps.Keys(nemesis.NotTried)) {
		fmt.Fprintf(out, "not tried: %s: %s\n", name, nemesis.NotTried[name])
	}
}

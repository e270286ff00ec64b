package check

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Broken are the rules that were violated, in the order of Rules.
func (r *Report) Broken() (ids []string) {
	for _, rule := range Rules {
		if r.violations(rule.ID) > 0 {
			ids = append(ids, rule.ID)
		}
	}
	return ids
}

func (r *Report) violations(rule string) (n int) {
	for _, v := range r.Violations {
		if v.Rule == rule {
			n++
		}
	}
	return n
}

// Summary says what was tried and what came of it.
func (r *Report) Summary(out io.Writer) {
	s := r.story
	lasted := time.Duration(0)
	if n := len(s.events); n > 0 {
		lasted = s.events[n-1].At - s.events[0].At
	}
	fmt.Fprintf(out, "\nseed %d, %v, Kafka %s, %d groups\n", s.header.Seed, lasted.Round(time.Second), s.header.Kafka, len(s.header.Groups))
	fmt.Fprintf(out, "%d messages succeeded in %d runs; %d commits stored, %d of them late; %d assignments heard\n", r.Messages, r.Runs, r.Commits, r.Ghosts, r.Rebalances)
	table(out, "faults and planned changes", r.Faults, strconv.Itoa)
	if r.Planned > 0 {
		fmt.Fprintf(out, "%d of the %d planned changes were made while no fault was felt: they had to interrupt nothing\n", r.Alone, r.Planned)
	}
	table(out, "started again after a success, because of", r.Repeats, strconv.Itoa)
	table(out, "runs thrown away", r.Wasted, func(w Waste) string { return fmt.Sprintf("%d runs, %.1f task-seconds", w.Runs, w.Time.Seconds()) })
	r.overlapSummary(out)
	if n := len(r.Deaf); n > 0 {
		fmt.Fprintf(out, "the same where one of them was cancelled and ignored it: %d times, at most %v\n", n, slices.Max(r.Deaf).Round(time.Millisecond))
	}
	if n := len(r.Lateness); n > 0 {
		fmt.Fprintf(out, "from an end to its commit, in a stable group: median %v, 99 %% %v, most %v, of %d\n", r.Lateness[n/2], r.Lateness[n*99/100], r.Lateness[n-1], n)
	}
	fmt.Fprintf(out, "a partition with work began nothing for %v at most, for %v where a member could have\n", r.Idle, r.Owed)
	fmt.Fprintln(out, "checks")
	for _, rule := range Rules {
		fmt.Fprintf(out, "  %-4s %-22s %s\n", rule.ID, r.verdict(rule.ID)+":", rule.Text)
	}
}

func (r *Report) verdict(rule string) string {
	if n := r.violations(rule); n > 0 {
		return fmt.Sprintf("VIOLATED %d times", n)
	}
	if why := r.Unchecked[rule]; why != "" {
		return "not checked: " + why
	}
	text := fmt.Sprintf("held %d times", r.Checked[rule])
	if r.Checked[rule] == 0 {
		text = "not checked: there was no case of it"
	}
	if n := r.Exempt[rule]; n > 0 {
		text += fmt.Sprintf(", %d left out for a fault", n)
	}
	return text
}

// overlapSummary says how often, and for how long at most, by reason.
func (r *Report) overlapSummary(out io.Writer) {
	longest, count := map[string]Overlap{}, map[string]int{}
	for _, o := range r.Overlaps {
		count[o.Reason]++
		if o.Lasted > longest[o.Reason].Lasted {
			longest[o.Reason] = o
		}
	}
	table(out, "two processes with the same work at once", longest, func(o Overlap) string {
		return fmt.Sprintf("%d times, at most %v (bound %v)", count[o.Reason], o.Lasted.Round(time.Millisecond), o.Bound)
	})
}

func table[V any](out io.Writer, title string, m map[string]V, text func(V) string) {
	if len(m) == 0 {
		fmt.Fprintf(out, "%s: none\n", title)
		return
	}
	fmt.Fprintln(out, title)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(out, "  %-34s %s\n", k, strings.TrimSpace(text(m[k])))
	}
}

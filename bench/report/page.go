package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel-go/evenkeel/bench/record"
)

const preamble = `# Benchmarks

<!-- made by make bench-report: do not edit -->

All figures are measured, those of this library and those of its peers on the same machine, and nothing is left out because of how it
came out. The whole is made again with

    make bench-report

` + "`make bench-report RUN=regexp`" + ` measures some rows again, ` + "`make bench-page`" + ` makes this page anew of what was measured, and
[results.jsonl](benchmarks/results.jsonl) has it all, one object a line. A load of more than nothing before a run means that other programs had
a part of the machine; rounds in turns share that, and the spread shows it.

A figure is a median, behind it in brackets the least and the most of its rounds. **Bold** is the best of a column. "Over" means that it
had not happened when the round ended. A peer is called better where its median is, by more than a hundredth; "within the spread" says that
the rounds of both overlap, so that another run may show it the other way round. Rows without brackets have one round.
`

// page is the whole document.
func (b *book) page() string {
	var w strings.Builder
	w.WriteString(preamble)
	b.outOfDate(&w)
	b.verdicts(&w)
	b.misses(&w)
	b.circumstances(&w)
	b.rows(&w, "Side by side", func(s *section) bool { return s.Peers })
	b.rows(&w, "By itself, or with one baseline", func(s *section) bool { return !s.Peers })
	b.places(&w)
	return w.String()
}

// verdicts lists where peers are better, before anything else: a line for each of them in each row.
func (b *book) verdicts(w *strings.Builder) {
	w.WriteString("\n## Where a peer is better\n\n")
	n := 0
	for _, s := range b.sections {
		if !s.Peers {
			continue
		}
		columns := s.columns()
		for _, peer := range sidesOf(columns)[1:] {
			if wins := winsOf(peer, columns); wins != "" {
				n++
				fmt.Fprintf(w, "- [%s](#%s), `%s`: %s\n", s.Name, s.Name, peer, wins)
			}
		}
	}
	if n == 0 {
		w.WriteString("Nowhere in what was measured.\n")
	}
}

// winsOf says in which columns a peer is better, and by how much.
func winsOf(peer string, columns []*column) string {
	var wins []string
	for _, c := range columns {
		if text := c.beats(peer); text != "" {
			wins = append(wins, text)
		}
	}
	return strings.Join(wins, "; ")
}

func (b *book) misses(w *strings.Builder) {
	w.WriteString("\n## Aims that were missed\n\n")
	told := map[string]bool{}
	for _, s := range b.sections {
		for _, f := range s.figures {
			for _, aim := range f.Missed {
				line := fmt.Sprintf("- [%s](#%s): `%s` is %s %s, %s was aimed at\n", s.Name, s.Name, f.Name, number(f.Value), f.Unit, aim)
				if !told[line] {
					w.WriteString(line)
				}
				told[line] = true
			}
		}
	}
	if len(told) == 0 {
		w.WriteString("None of those that were measured.\n")
	}
}

// circumstances say what was measured where.
func (b *book) circumstances(w *strings.Builder) {
	w.WriteString("\n## Circumstances\n")
	runs := b.runs()
	if len(runs) == 0 {
		w.WriteString("\nThey were not recorded.\n")
		return
	}
	machine := ""
	for _, r := range runs {
		if here := machineOf(r); here != machine {
			machine = here
			fmt.Fprintf(w, "\n%s\nMeasured there:\n\n", machine)
		}
		fmt.Fprintf(w, "- %s, at commit `%s`, with `%s` in bench/, %s before: %s\n",
			r.Began.Format("2 January 2006, 15:04 MST"), cmp.Or(r.Commit, "unknown"), r.Command, loadOf(r), strings.Join(b.of(r), ", "))
	}
	takingPart(w, runs[len(runs)-1])
}

func loadOf(r *record.Run) string {
	if r.Load == 0 {
		return "the load of the machine not noted"
	}
	return "the machine at a load of " + number(r.Load)
}

// takingPart says what a reader has to know of each side.
func takingPart(w *strings.Builder, latest *record.Run) {
	w.WriteString("\nWho takes part:\n\n| name | what it is |\n|---|---|\n")
	names := slices.SortedFunc(maps.Keys(latest.Peers), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
	for _, name := range names {
		fmt.Fprintf(w, "| `%s` | %s |\n", name, latest.Peers[name])
	}
}

// rank puts ours first.
func rank(name string) int {
	if name == ours {
		return 0
	}
	return 1
}

func (b *book) of(r *record.Run) (rows []string) {
	for _, s := range b.sections {
		if s.run == r {
			rows = append(rows, s.Name)
		}
	}
	return rows
}

// machineOf says where something was measured.
func machineOf(r *record.Run) string {
	var w strings.Builder
	fmt.Fprintf(&w, "- %s, %d cores, %s MB of memory, %s\n", r.CPU, r.Cores, number(float64(r.MemoryMB)), r.OS)
	fmt.Fprintf(&w, "- %s, Kafka %s (one node on the same machine), %s\n", r.Go, r.Kafka, cmp.Or(r.Java, "no Java"))
	var list []string
	for _, path := range slices.Sorted(maps.Keys(r.Modules)) {
		list = append(list, path+" "+r.Modules[path])
	}
	fmt.Fprintf(&w, "- %s\n", strings.Join(list, ", "))
	return w.String()
}

func (b *book) rows(w *strings.Builder, title string, which func(*section) bool) {
	fmt.Fprintf(w, "\n## %s\n", title)
	n := 0
	for _, s := range b.sections {
		if which(s) {
			n++
			s.write(w)
		}
	}
	if n == 0 {
		w.WriteString("\nNothing of it was measured.\n")
	}
}

func (s *section) write(w *strings.Builder) {
	fmt.Fprintf(w, "\n### %s\n\n%s.\n", s.Name, sentence(s.What))
	for _, why := range s.stale {
		fmt.Fprintf(w, "\n**Out of date**: %s.\n", strings.TrimSuffix(why, "."))
	}
	switch {
	case len(s.figures) == 0:
		w.WriteString("\nIt was not measured.\n")
	case s.Peers:
		for _, columns := range s.tables() {
			sideTable(w, columns)
		}
		for _, c := range s.charts() {
			fmt.Fprintf(w, "\n![%s](benchmarks/%s)\n", c.title, c.file)
		}
	default:
		plainTable(w, s.figures)
	}
	for _, a := range s.absent {
		fmt.Fprintf(w, "\nWithout %s: %s\n", cmp.Or(a.Peer, "the rest of it"), oneLine(a.Why))
	}
}

// places are the rows that nobody has measured.
func (b *book) places(w *strings.Builder) {
	if len(b.missing) > 0 {
		fmt.Fprintf(w, "\n## Not measured\n\nIn none of the runs that were kept: %s. `make bench-report RUN=name` measures one.\n", strings.Join(b.missing, ", "))
	}
}

func sentence(text string) string {
	if text == "" {
		return "What this row measures was not recorded"
	}
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".")
}

// oneLine keeps what an error says of itself, and leaves out what some process has printed.
func oneLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.ReplaceAll(line, "|", "/")
}

package main

import (
	"cmp"
	"slices"

	"github.com/evenkeel-go/evenkeel/bench/record"
)

const ours = "evenkeel"

// book is what counts of a file: of each row what was measured last.
type book struct {
	sections []*section
	missing  []string // rows of which nothing was measured
}

// section is a row.
type section struct {
	record.Row
	run     *record.Run // nil where the file does not say it
	figures []record.Figure
	absent  []record.Absent
	stale   []string // why it is out of date
}

// bookOf keeps the rows in the order in which they came first.
func bookOf(lines []record.Line) *book {
	b := &book{}
	var run *record.Run
	for _, l := range lines {
		switch {
		case l.Run != nil:
			run = l.Run
		case l.Row != nil:
			b.section(l.Row.Name).begin(*l.Row, run)
		case l.Figure != nil:
			s := b.section(l.Figure.Row)
			s.figures = append(s.figures, *l.Figure)
		case l.Absent != nil:
			s := b.section(l.Absent.Row)
			s.absent = append(s.absent, *l.Absent)
		}
	}
	return b
}

func (b *book) section(name string) *section {
	i := slices.IndexFunc(b.sections, func(s *section) bool { return s.Name == name })
	if i >= 0 {
		return b.sections[i]
	}
	s := &section{Row: record.Row{Name: name}}
	b.sections = append(b.sections, s)
	return s
}

// begin forgets what an earlier run has measured.
func (s *section) begin(r record.Row, run *record.Run) { *s = section{Row: r, run: run} }

// runs are those that the sections come from, the first one first.
func (b *book) runs() (list []*record.Run) {
	for _, s := range b.sections {
		if s.run != nil && !slices.Contains(list, s.run) {
			list = append(list, s.run)
		}
	}
	slices.SortFunc(list, func(a, b *record.Run) int { return a.Began.Compare(b.Began) })
	return list
}

// sides are all that take part in rows with peers, ours first.
func (b *book) sides() []string {
	var list []string
	for _, s := range b.sections {
		for _, f := range s.figures {
			if s.Peers && f.Peer != "" {
				list = append(list, f.Peer)
			}
		}
	}
	slices.Sort(list)
	return append([]string{ours}, slices.Compact(list)...)
}

// column is a figure with what each side has had of it.
type column struct {
	name, label, unit string
	more              bool
	cells             map[string]cell // by side
}

// cell is what one side has had.
type cell struct {
	value    float64
	min, max float64
	rounds   int
	waiting  bool
}

func cellOf(value float64, samples []float64, waiting bool) cell {
	if len(samples) == 0 {
		return cell{value, value, value, 1, waiting}
	}
	return cell{value, slices.Min(samples), slices.Max(samples), len(samples), waiting}
}

// columns are the figures of a row with peers, each once.
func (s *section) columns() (list []*column) {
	for _, f := range s.figures {
		i := slices.IndexFunc(list, func(c *column) bool { return c.name == f.Name })
		if i < 0 {
			i = len(list)
			c := &column{name: f.Name, label: labelOf(f.Name, s.Name), unit: f.Unit, more: f.More}
			c.cells = map[string]cell{ours: cellOf(f.Value, f.Samples, f.Waiting)}
			list = append(list, c)
		}
		if f.Peer != "" {
			list[i].cells[f.Peer] = cellOf(f.PeerValue, f.PeerSamples, f.PeerWaiting)
		}
	}
	return list
}

// group is columns that belong together: the same thing at several sizes.
type group struct {
	stem    string
	columns []*column
}

func (s *section) groups() (list []group) {
	for _, c := range s.columns() {
		stem := stemOf(c.label)
		i := slices.IndexFunc(list, func(g group) bool { return g.stem == stem && g.columns[0].unit == c.unit })
		if i < 0 {
			i = len(list)
			list = append(list, group{stem: stem})
		}
		list[i].columns = append(list[i].columns, c)
	}
	return list
}

const widest = 4 // columns of a table

// tables are the columns, as many side by side as fit, none of a group apart from the others of it.
func (s *section) tables() (list [][]*column) {
	for _, g := range s.groups() {
		if last := len(list) - 1; last >= 0 && len(list[last])+len(g.columns) <= widest {
			list[last] = append(list[last], g.columns...)
			continue
		}
		list = append(list, slices.Clone(g.columns))
	}
	return list
}

// sidesOf are those that have a cell in one of the columns: ours, then the peers by their best figure in the first column.
func sidesOf(columns []*column) (list []string) {
	for _, c := range columns {
		for name := range c.cells {
			if name != ours && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Compare(a, b) })
	return append([]string{ours}, list...)
}

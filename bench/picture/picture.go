// Package picture draws who had which partition's tasks, over time, as SVG: one panel for each way of doing the same.
package picture

import (
	_ "embed"
	"fmt"
	"io"
	"text/template"
	"time"

	"github.com/evenkeel-go/evenkeel/bench/ledger"
)

//go:embed picture.svg
var page string

var pageTemplate = template.Must(template.New("picture").Parse(page))

// Panel is a run of one side.
type Panel struct {
	Title      string
	Runs       ledger.Runs
	From, To   time.Time
	Partitions int32
	Changes    []Change
}

// Change is what was done to the group.
type Change struct {
	At   time.Time
	Text string
}

// The measures, in pixels.
const (
	left      = 70.0
	right     = 20.0
	width     = 1100.0
	head      = 52.0 // of a panel
	rowHeight = 18.0
	foot      = 26.0
)

// colours tell members apart; the first eight are told apart by all eyes (Okabe and Ito).
var colours = []string{"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999"}

type drawing struct {
	Title         string
	Width, Height float64
	Panels        []panel
}

type panel struct {
	Title, Sum      string
	Top, Rows, Base float64 // of the panel, of its rows, below them
	Below           float64
	Labels          []label
	Bars            []bar
	Changes         []line
	Seconds         []line
}

type label struct {
	Y    float64
	Text string
}

type bar struct {
	X, Y, Width, Height float64
	Colour, Text        string
	Wasted              bool
}

type line struct {
	X, Y float64
	Text string
}

// Draw draws panels below each other, on the same scale of time.
func Draw(out io.Writer, title string, panels []Panel) error {
	d := drawing{Title: title, Width: width}
	y := 40.0
	for _, p := range panels {
		one := p.draw(y)
		d.Panels = append(d.Panels, one)
		y = one.Base + foot
	}
	d.Height = y
	return pageTemplate.Execute(out, d)
}

func (p Panel) draw(top float64) panel {
	d := panel{Title: p.Title, Top: top, Rows: top + head, Below: top + 14}
	d.Base = d.Rows + rowHeight*float64(p.Partitions)
	d.Sum = fmt.Sprintf("%d starts, %d of them of what had been started before; %.0f task-seconds thrown away; partitions without a task: %.0f s in all",
		len(p.Runs), p.Runs.Repeats(), p.Runs.Wasted().Seconds(), p.Runs.Idle(p.From, p.To).Seconds())
	for n := range p.Partitions {
		d.Labels = append(d.Labels, label{d.Rows + rowHeight*(float64(n)+0.7), fmt.Sprint("partition ", n)})
	}
	for i, wasted := range p.Runs.Useless() {
		d.Bars = append(d.Bars, p.bar(p.Runs[i], d.Rows, wasted))
	}
	for i, c := range p.Changes {
		d.Changes = append(d.Changes, line{p.x(c.At), d.Rows - 4 - 11*float64(i%2), c.Text})
	}
	for s := time.Duration(0); s <= p.To.Sub(p.From); s += 10 * time.Second {
		d.Seconds = append(d.Seconds, line{p.x(p.From.Add(s)), d.Base + 12, fmt.Sprintf("%.0f s", s.Seconds())})
	}
	return d
}

func (p Panel) bar(r ledger.Run, rows float64, wasted bool) bar {
	from, to := p.x(r.Start), p.x(r.End)
	return bar{
		X: from, Y: rows + rowHeight*float64(r.Partition) + 2, Width: max(to-from-1, 1), Height: rowHeight - 4,
		Colour: colours[r.Member%len(colours)], Text: fmt.Sprintf("member %d, message %d, %.1f s", r.Member, r.Offset, r.Took().Seconds()), Wasted: wasted,
	}
}

// x is where a time lies.
func (p Panel) x(at time.Time) float64 {
	share := at.Sub(p.From).Seconds() / p.To.Sub(p.From).Seconds()
	return left + min(max(share, 0), 1)*(width-left-right)
}

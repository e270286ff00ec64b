// Package timeline draws a run as one HTML file: for each partition who has claimed it, the tasks, and the faults, over time.
package timeline

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
)

//go:embed timeline.html
var page string

var pageTemplate = template.Must(template.New("timeline").Parse(page))

// Mark is something that the picture has to point at, a violation.
type Mark struct {
	At        time.Duration
	Group     string // "" for all
	Partition int32
	Text      string
}

// Write draws a book into a file.
func Write(path string, b *ledger.Book, marks []Mark) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = Draw(f, b, marks)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// Draw draws a book.
func Draw(out io.Writer, b *ledger.Book, marks []Mark) error {
	return pageTemplate.Execute(out, drawing(b.Header, b.Events(), marks))
}

// The measures of the picture, in pixels.
const (
	left       = 150.0
	rowHeight  = 11.0
	groupSpace = 26.0
	faultRows  = 6
	widest     = 12_000.0
	perSecond  = 14.0 // unless that is too wide
)

// picture is what the template draws.
type picture struct {
	Title         string
	Width, Height float64
	Labels        []label
	Ticks         []label
	Faults        []bar
	Claims        []bar
	Tasks         []bar
	Marks         []bar
	Members       []swatch
	Charts        []chart
}

type label struct {
	X, Y float64
	Text string
}

type bar struct {
	X, Y, W, H float64
	Class      string
	Fill       string
	Text       string
}

// swatch is a member's colour. The template would not let a text into a style.
type swatch struct {
	Name string
	Fill template.CSS
}

// scale says where times and rows are.
type scale struct {
	begin  time.Duration
	second float64 // pixels
	top    map[row]float64
	height float64
}

type row struct {
	group     string
	partition int32
}

func (s *scale) x(at time.Duration) float64 { return left + (at-s.begin).Seconds()*s.second }

func (s *scale) bar(from, to time.Duration, y, h float64) bar {
	return bar{X: s.x(from), Y: y, W: max((to-from).Seconds()*s.second, 0.6), H: h}
}

func drawing(h ledger.Header, events []ledger.Event, marks []Mark) picture {
	p := picture{Title: fmt.Sprintf("seed %d, Kafka %s", h.Seed, h.Kafka)}
	if len(events) == 0 {
		return p
	}
	begin, end := events[0].At, events[len(events)-1].At
	s := newScale(h, events, begin, end)
	p.Width, p.Height = s.x(end)+20, s.height
	p.rows(h, s)
	p.ticks(s, begin, end)
	painter := &painter{picture: &p, scale: s, end: end, fills: map[string]string{}, open: map[any]ledger.Event{}, lastFault: make([]time.Duration, faultRows)}
	for _, e := range events {
		painter.take(e)
	}
	painter.rest()
	p.Charts = painter.charts(events, begin)
	for _, m := range marks {
		p.Marks = append(p.Marks, painter.mark(m))
	}
	return p
}

func newScale(h ledger.Header, events []ledger.Event, begin, end time.Duration) *scale {
	s := &scale{begin: begin, second: min(perSecond, widest/(end-begin).Seconds()), top: map[row]float64{}}
	y := 30 + faultRows*rowHeight
	for _, g := range h.Groups {
		y += groupSpace
		for p := range g.PartitionsAfter(events) {
			s.top[row{g.Name, p}] = y
			y += rowHeight
		}
	}
	s.height = y + 30
	return s
}

func (p *picture) rows(h ledger.Header, s *scale) {
	p.Labels = append(p.Labels, label{6, 30 + rowHeight, "faults"})
	for _, g := range h.Groups {
		for part := int32(0); ; part++ {
			y, ok := s.top[row{g.Name, part}]
			if !ok {
				break
			}
			if part == 0 {
				p.Labels = append(p.Labels, label{6, y - 6, g.Name})
			}
			p.Labels = append(p.Labels, label{110, y + 9, strconv.Itoa(int(part))})
		}
	}
}

func (p *picture) ticks(s *scale, begin, end time.Duration) {
	step := 5 * time.Second
	for s.second*step.Seconds() < 50 {
		step *= 2
	}
	for at := begin; at < end; at += step {
		p.Ticks = append(p.Ticks, label{s.x(at), 16, (at - begin).String()})
	}
}

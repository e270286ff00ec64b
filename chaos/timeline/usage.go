package timeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
)

// chart is what all processes had in use of one thing, over time.
type chart struct {
	Title string
	Ticks []label
	Lines []line
}

type line struct{ Name, Fill, Points string }

// The measures of a chart, in pixels.
const (
	chartLeft, chartRight = 60.0, 1230.0
	chartTop, chartBottom = 10.0, 180.0
)

var charted = []struct {
	title string
	of    func(*ledger.Usage) float64
}{
	{"heap in use, MB", func(u *ledger.Usage) float64 { return float64(u.Heap) / 1e6 }},
	{"resident memory, MB", func(u *ledger.Usage) float64 { return float64(u.RSS) / 1e6 }},
	{"goroutines", func(u *ledger.Usage) float64 { return float64(u.Goroutines) }},
	{"descriptors", func(u *ledger.Usage) float64 { return float64(u.Files) }},
	{"lag of what is claimed, messages", func(u *ledger.Usage) float64 { return float64(u.Lag) }},
}

func (p *painter) charts(events []ledger.Event, begin time.Duration) (list []chart) {
	samples := map[string][]ledger.Event{}
	for _, e := range events {
		if e.Kind == ledger.Sampled {
			samples[e.Member] = append(samples[e.Member], e)
		}
	}
	if len(samples) == 0 {
		return nil
	}
	for _, c := range charted {
		list = append(list, p.chart(c.title, samples, begin, c.of))
	}
	return list
}

func (p *painter) chart(title string, samples map[string][]ledger.Event, begin time.Duration, of func(*ledger.Usage) float64) chart {
	most := 1.0
	for _, list := range samples {
		for _, e := range list {
			most = max(most, of(e.Usage))
		}
	}
	c := chart{Title: title}
	y := func(v float64) float64 { return chartBottom - v/most*(chartBottom-chartTop) }
	for i := range 3 {
		v := most * float64(i) / 2
		c.Ticks = append(c.Ticks, label{Y: y(v), Text: fmt.Sprintf("%.4g", v)})
	}
	for _, process := range slices.Sorted(maps.Keys(samples)) {
		var points strings.Builder
		for _, e := range samples[process] {
			x := chartLeft + (e.At-begin).Seconds()/(p.end-begin).Seconds()*(chartRight-chartLeft)
			fmt.Fprintf(&points, "%.1f,%.1f ", x, y(of(e.Usage)))
		}
		c.Lines = append(c.Lines, line{process, p.fill(process), points.String()})
	}
	return c
}

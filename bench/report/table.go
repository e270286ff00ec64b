package main

import (
	"fmt"
	"strings"

	"github.com/evenkeel-go/evenkeel/bench/record"
)

// sideTable has a line for each side.
func sideTable(w *strings.Builder, columns []*column) {
	sides := sidesOf(columns)
	w.WriteString("\n| |")
	for _, c := range columns {
		fmt.Fprintf(w, " %s, %s |", c.label, strings.ReplaceAll(c.unit, "_", " "))
	}
	fmt.Fprintf(w, " better than evenkeel |\n|---|%s---|\n", strings.Repeat("---|", len(columns)))
	for _, name := range sides {
		fmt.Fprintf(w, "| `%s` |", name)
		for _, c := range columns {
			fmt.Fprintf(w, " %s |", c.text(name))
		}
		fmt.Fprintf(w, " %s |\n", winsOf(name, columns))
	}
}

func (c *column) text(side string) string {
	one, ok := c.cells[side]
	switch {
	case !ok:
		return "-"
	case c.best(side):
		return "**" + one.String() + "**"
	default:
		return one.String()
	}
}

// plainTable has a line for each figure.
func plainTable(w *strings.Builder, figures []record.Figure) {
	w.WriteString("\n| figure | evenkeel | unit | baseline | its value | ratio | |\n|---|---|---|---|---|---|---|\n")
	for _, f := range figures {
		base, value, ratio := "none", "", ""
		if f.Peer != "" {
			base, value, ratio = strings.ReplaceAll(f.Peer, "_", " "), cellOf(f.PeerValue, f.PeerSamples, f.PeerWaiting).String(), number(f.Ratio)
		}
		fmt.Fprintf(w, "| `%s` | %s | %s | %s | %s | %s | %s |\n", f.Name, cellOf(f.Value, f.Samples, f.Waiting),
			strings.ReplaceAll(f.Unit, "_", " "), base, value, ratio, missed(f))
	}
}

func missed(f record.Figure) string {
	if len(f.Missed) == 0 {
		return ""
	}
	return "missed: " + strings.Join(f.Missed, ", ")
}

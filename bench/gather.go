package main

import "slices"

// gathered are the rounds of a row that compares sides: for each figure, in the order in which they came, what each side had.
type gathered struct {
	row   string
	names []string
	units map[string]unit
	had   map[string]map[string]*heard // by figure and side
}

// unit is what a figure is counted in.
type unit struct {
	name string
	more bool // more is better
}

// heard is what one side had.
type heard struct {
	samples []float64
	waiting bool // of one at least it is only known that it is more
}

func gather(row string) *gathered {
	return &gathered{row: row, units: map[string]unit{}, had: map[string]map[string]*heard{}}
}

// add takes a sample. The figure's name is that of the row with the suffix.
func (g *gathered) add(side, suffix string, u unit, value float64) *heard {
	name := g.row + suffix
	if g.had[name] == nil {
		g.names = append(g.names, name)
		g.units[name], g.had[name] = u, map[string]*heard{}
	}
	h := g.had[name][side]
	if h == nil {
		h = &heard{}
		g.had[name][side] = h
	}
	h.samples = append(h.samples, value)
	return h
}

// addUntil takes a sample of something that may not have happened by the end.
func (g *gathered) addUntil(side, suffix string, u unit, value float64, happened bool) {
	if h := g.add(side, suffix, u, value); !happened {
		h.waiting = true
	}
}

// figures are one for each peer, and one without where nobody but us has been measured.
func (g *gathered) figures() (list []figure) {
	for _, name := range g.names {
		ours := g.had[name][oursName]
		if ours == nil {
			continue
		}
		before := len(list)
		for _, s := range sides() {
			if h := g.had[name][s.name]; h != nil && s.name != oursName {
				list = append(list, g.compare(name, s.name, ours, h))
			}
		}
		if len(list) == before {
			list = append(list, g.alone(name, ours))
		}
	}
	return list
}

func (g *gathered) alone(name string, ours *heard) figure {
	u := g.units[name]
	return figure{
		name: name, unit: u.name, more: u.more, baseline: "none", value: median(ours.samples),
		own: slices.Clone(ours.samples), waiting: ours.waiting,
	}
}

// compare makes the ratio of the medians: a round of one side has nothing to do with the same round of another one.
func (g *gathered) compare(name, peer string, ours, theirs *heard) figure {
	f := g.alone(name, ours)
	f.peer, f.baseline, f.baselineValue = peer, peer, median(theirs.samples)
	f.base, f.baseWaiting = slices.Clone(theirs.samples), theirs.waiting
	if f.baseWaiting {
		f.baseline += "_still_waiting"
	}
	return f
}

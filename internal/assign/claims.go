package assign

import "slices"

// claim is what a member says of a partition.
type claim struct {
	by         int
	generation int32
	busy       bool
	runs       bool // the report says so
}

// claims finds the owner of each partition: the one that got it in the highest generation. Where two have the same it is the one that
// runs a task there, so that one task less is lost, and else the first one by id.
func (r *round) claims() {
	for _, h := range r.holders {
		r.each(h.Held, func(p *part) { p.hold(h.index) })
		if h.ghost {
			continue
		}
		r.eachOf(h, h.Held, func(p *part) { p.claim(r.claimOf(h, true)) })
		r.eachOf(h, h.report.Owned, func(p *part) { p.claim(r.claimOf(h, true)) })
		r.eachOf(h, h.report.Busy, func(p *part) { p.claim(r.claimOf(h, false)) })
	}
	for _, h := range r.holders {
		r.eachOwned(h, h.report.Marked, func(p *part) { p.marked = true })
		r.eachOwned(h, h.report.Over, func(p *part) { p.over = true })
		r.eachOwned(h, h.report.Stuck, func(p *part) { p.stuck = true })
	}
}

// claimOf makes a claim. What is only owned counts as busy where the report cannot say better: busy was too long to be told, or the
// report is not of this round (a static member that does not join stays in the group, with what it said last).
func (r *round) claimOf(h *holder, idle bool) claim {
	unsure := h.report.CutShort || h.Member.Report != nil && h.generation < r.newest
	return claim{by: h.index, generation: h.generation, busy: !idle || unsure, runs: !idle || h.report.CutShort}
}

func (p *part) hold(by int) {
	switch p.held {
	case nobody, by:
		p.held = by
	default:
		p.held = several
	}
}

func (p *part) claim(c claim) {
	old := p.owner
	switch {
	case old.by == nobody:
		p.owner = c
		return
	case old.by == c.by:
		p.owner.busy, p.owner.runs = old.busy || c.busy, old.runs || c.runs
		return
	case c.generation == old.generation:
		p.disputed = true
	case c.generation > old.generation:
		p.disputed = false
	}
	if c.generation > old.generation || c.generation == old.generation && c.busy && !old.busy {
		p.owner, c = c, old
	}
	p.fought = p.fought || c.runs
}

// each calls f for those of the partitions that exist.
func (r *round) each(s Partitions, f func(p *part)) {
	for name, numbers := range s {
		if t := r.topics[name]; t != nil {
			r.eachOfTopic(t, numbers, f)
		}
	}
}

func (r *round) eachOfTopic(t *topic, numbers []int32, f func(p *part)) {
	for _, number := range numbers {
		if i, ok := slices.BinarySearch(t.numbers, number); ok {
			f(&r.parts[t.first+i])
		}
	}
}

// eachOf leaves out topics to which the member does not subscribe.
func (r *round) eachOf(h *holder, s Partitions, f func(p *part)) {
	for name, numbers := range s {
		t := r.topics[name]
		if t == nil {
			continue
		}
		if _, subscribes := slices.BinarySearch(t.subscribers, h.index); subscribes {
			r.eachOfTopic(t, numbers, f)
		}
	}
}

// eachOwned leaves out those that another member owns.
func (r *round) eachOwned(h *holder, s Partitions, f func(p *part)) {
	r.each(s, func(p *part) {
		if p.owner.by == h.index {
			f(p)
		}
	})
}

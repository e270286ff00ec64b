package assign

// plan writes down what was decided.
func (r *round) plan() *Plan {
	p := r.newPlan()
	shares := make([]Share, len(r.holders))
	for i := range r.parts {
		x := &r.parts[i]
		if x.at == nobody {
			p.Unserved.Add(x.topic.name, x.number)
			continue
		}
		if r.give(p, x) {
			x.tell(&shares[x.at], r.holders[x.at].report.Draining)
		}
	}
	for i, h := range r.holders {
		shares[i].Drained = h.report.Draining
		p.Shares[h.ID] = shares[i]
	}
	return p
}

func (r *round) newPlan() *Plan {
	p := &Plan{Shares: make(map[string]Share, len(r.holders)), stamped: stamped{all: true}}
	for _, h := range r.holders {
		if !h.ghost {
			p.members++
			p.stamped.hear(h.Member.Report)
		}
	}
	return p
}

// give says whether the member gets the partition in this round. It does not as long as another one has a claim, and rejoins when that
// has ended; what has been the member's before is not taken from it for such a claim, which ends in any case.
func (r *round) give(p *Plan, x *part) bool {
	move := Move{x.topic.name, x.number, r.idOf(x.owner.by), r.idOf(x.at)}
	switch {
	case x.at == x.owner.by:
		return true
	case x.held == nobody || x.held == x.at:
		if move.From != "" {
			p.Moved = append(p.Moved, move)
		}
		return true
	case move.From == "":
		move.From = r.idOf(x.held)
	}
	p.Withheld = append(p.Withheld, move)
	return false
}

func (r *round) idOf(i int) string {
	if i < 0 {
		return ""
	}
	return r.holders[i].ID
}

// tell adds the partition to a share. A task past the hold limit is stopped where the partition has to go; so is one whose partition
// others claim with the same right, for nobody can say whose task it is. A member that drains stops its tasks itself, when its grace is over.
func (p *part) tell(s *Share, drains bool) {
	s.Assigned.Add(p.topic.name, p.number)
	if p.leaves {
		s.HandOver.Add(p.topic.name, p.number)
	}
	if p.leaves && p.over && !drains || p.disputed && p.owner.busy {
		s.Stop.Add(p.topic.name, p.number)
	}
}

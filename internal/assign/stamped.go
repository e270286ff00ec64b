package assign

// stamped is what the leader knows of members that do not stamp: the report of a member that was in the generation before says since
// when all of that one have stamped. The leader itself may have come later; or it may have led that one, and vouches for it.
type stamped struct {
	all    bool // each member of this round stamps
	newest int32
	before int32 // what the assignment of the newest generation said
	led    Led   // what the leader vouches for
}

// hear takes the report of a member, nil where it has none.
func (s *stamped) hear(r *Report) {
	if r == nil || !r.Stamps {
		s.all = false
		return
	}
	s.said(r.Generation, r.StampedSince)
}

// said takes what the assignment of a generation said. Only the newest one counts.
func (s *stamped) said(generation, since int32) {
	switch {
	case generation > s.newest:
		s.newest, s.before = generation, since
	case generation == s.newest:
		s.before = weaker(s.before, since)
	}
}

// weaker is what holds where two that were in the same generation say different things: 0 is that not all stamped.
func weaker(a, b int32) int32 {
	if a == 0 || b == 0 {
		return 0
	}
	return max(a, b)
}

// since is what the assignment of a generation says. A generation before it that nobody tells of may have had any members.
func (s *stamped) since(generation int32) int32 {
	known := *s
	if s.led.Generation == generation-1 {
		known.said(s.led.Generation, s.led.StampedSince)
	}
	switch {
	case !known.all:
		return 0
	case known.newest == generation-1 && known.before > 0:
		return known.before
	case s.led.Generation == generation && s.led.StampedSince > 0 && known.newest < generation-1:
		return s.led.StampedSince // the same round once more: the leader has joined again before it was made
	}
	return generation
}

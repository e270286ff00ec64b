package assign

// stamped is what the leader knows of members that do not stamp: the report of a member that was in the generation before says since
// when all of that one have stamped. The leader itself may have come later.
type stamped struct {
	all    bool // each member of this round stamps
	newest int32
	before int32 // what the assignment of the newest generation said
}

// hear takes the report of a member, nil where it has none.
func (s *stamped) hear(r *Report) {
	switch {
	case r == nil || !r.Stamps:
		s.all = false
	case r.Generation > s.newest:
		s.newest, s.before = r.Generation, r.StampedSince
	case r.Generation == s.newest:
		s.before = weaker(s.before, r.StampedSince)
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
	switch {
	case !s.all:
		return 0
	case s.newest == generation-1 && s.before > 0:
		return s.before
	}
	return generation
}

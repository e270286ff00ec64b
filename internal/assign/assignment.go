package assign

// Assignment is what the leader tells a member beside its partitions, as the assignment's user data.
type Assignment struct {
	Members      int        // how many the group has, ghosts aside
	StampedSince int32      // from this generation to the assignment's own, each member of each generation stamps; 0 for not even now
	Drained      bool       // the member was counted as one that drains
	HandOver     Partitions // those of its partitions that it starts nothing more on; when one is idle it asks for a round
	Stop         Partitions // those of its partitions whose task it cancels, before it reports them idle
}

// StampedFrom says that each member stamps in each generation from this one to that of the assignment. A member that has missed these
// generations, its own last one being the one before, then knows from the stamp alone whether somebody else had the partition.
func (a Assignment) StampedFrom(generation int32) bool {
	return a.StampedSince > 0 && a.StampedSince <= generation
}

const drainedFlag = 1

// Tags of the sections of an assignment.
const (
	handOverTag = 1 + iota
	stopTag
)

// Encode returns the user data for an assignment of these topics. It is never empty, and at most [MaxData] long. What to hand over
// comes before what to stop; each takes its topics in order, and those that do not fit any more are left out: they wait for a later round.
func (a Assignment) Encode(topics []string) []byte { return a.encode(topics, MaxData) }

func (a Assignment) encode(topics []string, room int) []byte {
	w := newWriter(answerKind, topics, room)
	w.out = append(w.out, flag(a.Drained, drainedFlag))
	w.number(int64(a.Members))
	w.number(int64(a.StampedSince))
	w.section(handOverTag, a.HandOver)
	w.section(stopTag, a.Stop)
	return w.seal()
}

// ParseAssignment reads the user data of an assignment of these topics. With an error, the member knows nothing of the others: its
// leader is of another kind. It never panics, and allocates at most some 100 bytes for each byte.
func ParseAssignment(data []byte, topics []string) (Assignment, error) {
	p, err := open(data, answerKind, topics)
	if err != nil {
		return Assignment{}, err
	}
	a := Assignment{Drained: p.Byte()&drainedFlag != 0}
	a.Members = int(p.int32())
	a.StampedSince = p.int32()
	if err := p.sections(map[byte]*Partitions{handOverTag: &a.HandOver, stopTag: &a.Stop}); err != nil {
		return Assignment{}, err
	}
	return a, nil
}

package assign

// Report is what a member tells the leader at each join, as the user data of its subscription. It has no clock: the same state gives
// the same bytes. A member that is not known to the broker any more has lost everything, and reports nothing.
type Report struct {
	Owner        uint64 // the member's random id, that of its stamps
	Generation   int32  // of the last assignment received under its present member id; 0 for none
	StampedSince int32  // what that assignment said, see [Assignment]
	Requests     int64  // rises by one each time the member asks for a round
	Slots        int    // how many tasks it runs at once; 0 for unknown

	Draining bool // it is about to leave, and takes nothing new
	Ghost    bool // it is here only to cause a round; this version knows such members, and makes none
	Stamps   bool // it starts nothing on a partition before its stamp is in the partition's commit
	CutShort bool // Busy was too long to be told: all that it owns counts as busy

	Owned  Partitions // all that it has: the subscription of an eager member tells none, nor does that of one whose session has just begun anew
	Busy   Partitions // a task runs there; one that waits for its retry does not run
	Marked Partitions // it has been told to hand them over, and starts nothing more there
	Over   Partitions // of the busy ones: the task is past the hold limit
	Stuck  Partitions // of the busy ones: the task has been cancelled and does not return
}

const (
	drainingFlag = 1 << iota
	ghostFlag
	stampsFlag
	cutShortFlag
)

// Tags of the sections of a report.
const (
	busyTag = 1 + iota
	markedTag
	overTag
	stuckTag
	ownedTag
)

// Encode returns the user data for a subscription to topics, at most [MaxData] long. The sections come in the order busy, marked,
// over, stuck, owned; each takes its topics in order, and those that do not fit any more are left out. It never fails: of what is
// negative, and of topics that are not among these, nothing is written.
func (r Report) Encode(topics []string) []byte { return r.encode(topics, MaxData) }

func (r Report) encode(topics []string, room int) []byte {
	w := newWriter(reportKind, topics, room)
	w.out = append(w.out, r.flags())
	w.owner(r.Owner)
	w.number(int64(r.Generation))
	w.number(int64(r.StampedSince))
	w.number(r.Requests)
	w.number(int64(r.Slots))
	if !w.section(busyTag, r.Busy) {
		w.out[bodyAt] |= cutShortFlag
	}
	w.section(markedTag, r.Marked)
	w.section(overTag, r.Over)
	w.section(stuckTag, r.Stuck)
	w.section(ownedTag, r.Owned)
	return w.seal()
}

func (r Report) flags() byte {
	return flag(r.Draining, drainingFlag) | flag(r.Ghost, ghostFlag) | flag(r.Stamps, stampsFlag) | flag(r.CutShort, cutShortFlag)
}

func flag(set bool, bit byte) byte {
	if set {
		return bit
	}
	return 0
}

// ParseReport reads the user data of a subscription to topics. It returns nil with an error. It never panics, and allocates at most
// some 100 bytes for each byte.
func ParseReport(data []byte, topics []string) (*Report, error) {
	p, err := open(data, reportKind, topics)
	if err != nil {
		return nil, err
	}
	flags, r := p.Byte(), &Report{Owner: p.Uint64()}
	r.Draining, r.Ghost = flags&drainingFlag != 0, flags&ghostFlag != 0
	r.Stamps, r.CutShort = flags&stampsFlag != 0, flags&cutShortFlag != 0
	r.Generation = p.int32()
	r.StampedSince = p.int32()
	r.Requests = p.Uvarint()
	r.Slots = int(p.int32())
	err = p.sections(map[byte]*Partitions{
		busyTag: &r.Busy, markedTag: &r.Marked, overTag: &r.Over, stuckTag: &r.Stuck, ownedTag: &r.Owned,
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

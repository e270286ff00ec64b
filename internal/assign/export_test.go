package assign

// EncodeWithin encodes into so many bytes at most.
func (r Report) EncodeWithin(topics []string, room int) []byte { return r.encode(topics, room) }

// EncodeWithin encodes into so many bytes at most.
func (a Assignment) EncodeWithin(topics []string, room int) []byte { return a.encode(topics, room) }

// DecideBy plans as Decide does, with another planner.
func DecideBy(first func([]Member, Partitions) *Plan, members []Member, topics Partitions) *Plan {
	return despite(first, members, topics)
}

// Seal makes data of a kind, 'm' or 'a', out of a body, under a good checksum.
func Seal(kind byte, topics []string, body []byte) []byte {
	w := newWriter(kind, topics, MaxData)
	w.out = append(w.out, body...)
	return w.seal()
}

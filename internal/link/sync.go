package link

import (
	"encoding/binary"
	"time"
)

// Sync is a SyncGroup, as it was seen on the wire. It names the round that the join before it has ended: sarama tells nobody of that before
// the assignment is there.
type Sync struct {
	MemberID   string
	Generation int32
	Sent       time.Time
	Answered   time.Time // when the answer began to come, zero as long as it has not, and when the connection is gone
	Out        bool      // the answer is to come: the connection is up
	Due        bool      // a join has been answered since, and the sync of its round is to come
}

// The versions from which the strings of a request are compact and its header has tags (KIP-482).
const (
	flexibleSync = 4
	flexibleJoin = 6
)

// newSync reads a request. Member id and generation are zero where it cannot be read.
func newSync(request []byte) *Sync {
	s := &Sync{Sent: time.Now()}
	f, _ := bodyOf(request, flexibleSync)
	f.text() // group
	generation, id := f.int32(), f.text()
	if !f.short {
		s.Generation, s.MemberID = generation, id
	}
	return s
}

// isUnnamed says of a JoinGroup that the member has no id yet: the coordinator makes one for it.
func isUnnamed(request []byte) bool {
	f, version := bodyOf(request, flexibleJoin)
	f.text()  // group
	f.skip(4) // session timeout
	if version >= 1 {
		f.skip(4) // rebalance timeout
	}
	id := f.text()
	return !f.short && id == ""
}

// bodyOf skips the header of a request.
func bodyOf(request []byte, flexible int16) (f *fields, version int16) {
	f = &fields{rest: request}
	f.skip(keyEnd)
	version = f.int16()
	f.skip(4) // correlation id
	f.text()  // client id
	if f.compact = version >= flexible; f.compact && f.length() != 0 {
		f.short, f.rest = true, nil // sarama sends no tags
	}
	return f, version
}

// fields reads a request from its front. Once it is too short all that is read is zero.
type fields struct {
	rest    []byte
	compact bool
	short   bool
}

// skip returns the next n bytes, fewer if there are not so many.
func (f *fields) skip(n int) []byte {
	if n > len(f.rest) {
		f.rest, f.short = nil, true
	}
	b := f.rest[:min(n, len(f.rest))]
	f.rest = f.rest[len(b):]
	return b
}

func (f *fields) int16() (n int16) {
	_, _ = binary.Decode(f.skip(2), binary.BigEndian, &n)
	return n
}

func (f *fields) int32() (n int32) {
	_, _ = binary.Decode(f.skip(4), binary.BigEndian, &n)
	return n
}

// length reads a length of the compact kind. One that is longer than the rest counts as longer than any.
func (f *fields) length() int {
	n, size := binary.Uvarint(f.rest)
	f.short = f.short || size <= 0
	f.skip(max(size, 0))
	return int(min(n, uint64(len(f.rest))+2)) //nolint:gosec // bounded
}

// text reads a string, which is empty for none at all.
func (f *fields) text() string {
	if f.compact {
		return string(f.skip(max(f.length()-1, 0)))
	}
	return string(f.skip(max(int(f.int16()), 0)))
}

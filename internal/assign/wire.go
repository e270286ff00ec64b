package assign

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"

	"github.com/evenkeel-go/evenkeel/internal/packed"
)

// MaxData is how long a member's user data and its assignment data are at most, in bytes.
const MaxData = 16 << 10

// What both kinds of data begin with.
const (
	magic      = "keel"
	reportKind = 'm'
	answerKind = 'a'
	version    = 1
	headLen    = len(magic) + 2
	bodyAt     = headLen + crc32.Size
)

// Why data says nothing to us.
var (
	// ErrForeign is returned for data that this library did not write, or that is of the other kind; none at all is such.
	ErrForeign = errors.New("the data is not of this library")
	// ErrVersion is returned for data of a version that this one does not know.
	ErrVersion = errors.New("the data is of another version of this library")
	// ErrDamaged is returned for data that was changed or cut, or belongs to other topics.
	ErrDamaged = errors.New("the data is damaged")
)

// writer collects the bytes of data that belongs to a list of topics.
type writer struct {
	out    []byte
	topics []string // in order
	room   int      // how many bytes there may be
}

func newWriter(kind byte, topics []string, room int) *writer {
	w := &writer{topics: named(topics), room: room}
	w.out = append(append(w.out, magic...), kind, version)
	w.out = append(w.out, make([]byte, crc32.Size)...)
	return w
}

func (w *writer) owner(id uint64) { w.out = binary.BigEndian.AppendUint64(w.out, id) }

// number writes 0 for what is negative.
func (w *writer) number(v int64) { w.out = appendUvarint(w.out, max(v, 0)) }

// section writes the sets of as many topics as there is room for. It returns false where some were left out.
func (w *writer) section(tag byte, sets Partitions) (whole bool) {
	var content []byte
	next := 0 // the index of the topic after the last one
	whole = true
	for i, topic := range w.topics {
		set := ascending(sets[topic])
		if len(set) == 0 {
			continue
		}
		longer := appendSet(appendUvarint(content, i-next), set)
		if whole = len(w.out)+sectionLen(len(longer)) <= w.room; !whole {
			break
		}
		content, next = longer, i+1
	}
	if len(content) > 0 {
		w.out = append(w.out, tag)
		w.number(int64(len(content)))
		w.out = append(w.out, content...)
	}
	return whole
}

func sectionLen(content int) int { return 1 + uvarintLen(content) + content }

func (w *writer) seal() []byte {
	binary.BigEndian.PutUint32(w.out[headLen:], checksum(w.topics, w.out[bodyAt:]))
	return w.out
}

// checksum is that of data that belongs to a list of topics: with another list its sets mean nothing.
func checksum(topics []string, body []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := uint32(0)
	for _, topic := range topics {
		sum = crc32.Update(sum, table, append([]byte(topic), 0))
	}
	return crc32.Update(sum, table, body)
}

// open returns what the checksum is made of.
func open(data []byte, kind byte, topics []string) (*parser, error) {
	if len(data) < headLen || string(data[:len(magic)]) != magic || data[len(magic)] != kind {
		return nil, ErrForeign
	}
	if data[headLen-1] != version {
		return nil, ErrVersion
	}
	p := &parser{topics: named(topics)}
	if len(data) < bodyAt || len(data) > MaxData || binary.BigEndian.Uint32(data[headLen:]) != checksum(p.topics, data[bodyAt:]) {
		return nil, ErrDamaged
	}
	p.In = data[bodyAt:]
	return p, nil
}

// parser reads data that belongs to a list of topics.
type parser struct {
	packed.Reader
	topics []string // in order
}

// sections reads them all. It passes over tags for which there is no place in into.
func (p *parser) sections(into map[byte]*Partitions) error {
	var seen [256]bool
	for len(p.In) > 0 && !p.Bad {
		tag, content := p.Byte(), p.Next(p.Uvarint())
		p.Bad = p.Bad || seen[tag]
		seen[tag] = true
		if sets, known := into[tag]; known && !p.Bad {
			*sets = p.sets(content)
		}
	}
	if p.Bad {
		return ErrDamaged
	}
	return nil
}

// sets reads the content of a section.
func (p *parser) sets(content []byte) Partitions {
	in := parser{Reader: packed.Reader{In: content}}
	sets, left := Partitions{}, p.topics
	for len(in.In) > 0 && !in.Bad {
		skip := in.Uvarint()
		if skip >= int64(len(left)) {
			in.Bad = true
			break
		}
		sets[left[skip]] = in.set()
		left = left[skip+1:]
	}
	p.Bad = p.Bad || in.Bad
	return sets
}

func (p *parser) int32() int32 {
	v := p.Uvarint()
	if v > math.MaxInt32 {
		p.Bad = true
		return 0
	}
	return int32(v) //nolint:gosec // checked, and never negative
}

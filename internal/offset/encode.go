package offset

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
)

const (
	magic   = "keel" // the text's first characters
	version = '1'    // the one after them
)

// Encode returns the text for a commit of Next, never longer than limit. Stamp, map and further sections are taken in this order, and
// each that does not fit into what room is left is left out as a whole; without the stamp the text is "". Ranges out of order are no
// map, and nothing is written for a negative Next or Count.
func (s State) Encode(limit int) string {
	w := writer{room: z85Room(limit - len(magic) - 1)}
	w.head(s.Stamp, s.Next)
	if s.Next < 0 || s.Stamp.Count < 0 || len(w.out) > w.room {
		return ""
	}
	w.holes(s.Next, s.Finished)
	for _, x := range s.More {
		w.section(x)
	}
	return w.text()
}

// writer collects the bytes of a text: room is how many there may be.
type writer struct {
	out  []byte
	room int
}

// head leaves the place of the checksum open.
func (w *writer) head(s Stamp, next int64) {
	w.out = make([]byte, 4, headBytes)
	w.out = binary.BigEndian.AppendUint64(w.out, s.Owner)
	w.out = appendUvarint(w.out, s.Count)
	w.out = appendUvarint(w.out, next)
}

func (w *writer) holes(next int64, finished Ranges) {
	h, ok := newHoles(next, finished)
	if ok && w.fits(h.len()) {
		w.begin(mapTag, h.len())
		w.out = h.append(w.out)
	}
}

func (w *writer) section(s Section) {
	if w.fits(len(s.Content)) {
		w.begin(s.Tag, len(s.Content))
		w.out = append(w.out, s.Content...)
	}
}

func (w *writer) fits(content int) bool { return len(w.out)+sectionLen(content) <= w.room }

func (w *writer) begin(tag byte, content int) {
	w.out = append(w.out, tag)
	w.out = appendUvarint(w.out, int64(content))
}

func (w *writer) text() string {
	binary.BigEndian.PutUint32(w.out, checksum(w.out[4:]))
	text := make([]byte, 0, textLen(len(w.out)))
	text = append(text, magic...)
	text = append(text, version)
	return string(appendZ85(text, w.out))
}

// textLen is the length of a text of so many bytes.
func textLen(size int) int { return len(magic) + 1 + z85Len(size) }

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

func appendUvarint(dst []byte, v int64) []byte {
	return binary.AppendUvarint(dst, uint64(v)) //nolint:gosec // never negative here
}

func uvarintLen(v int64) int {
	return (bits.Len64(uint64(v)|1) + 6) / 7 //nolint:gosec // never negative here
}

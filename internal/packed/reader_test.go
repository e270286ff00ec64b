package packed_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/packed"
)

func TestWhatWasWrittenIsRead(t *testing.T) {
	data := binary.AppendUvarint(nil, math.MaxInt64)
	data = append(data, 7, 1, 2, 3)
	data = binary.BigEndian.AppendUint64(data, 1<<63)
	r := packed.Reader{In: data}
	if v, b, piece, id := r.Uvarint(), r.Byte(), r.Next(3), r.Uint64(); v != math.MaxInt64 || b != 7 || !slices.Equal(piece, []byte{1, 2, 3}) || id != 1<<63 {
		t.Errorf("read %d, %d, %v, %d", v, b, piece, id)
	}
	if r.Bad || len(r.In) > 0 {
		t.Errorf("bad %v, %d bytes left", r.Bad, len(r.In))
	}
}

// With too little the reader is bad for good, and gives zeros.
func TestTooLittleIsBad(t *testing.T) {
	for name, read := range map[string]func(*packed.Reader) bool{
		"a number":        func(r *packed.Reader) bool { return r.Uvarint() == 0 },
		"a piece":         func(r *packed.Reader) bool { return r.Next(3) == nil },
		"eight bytes":     func(r *packed.Reader) bool { return r.Uint64() == 0 },
		"a number of two": func(r *packed.Reader) bool { r.In = r.In[:1]; return r.Uvarint() == 0 },
	} {
		r := packed.Reader{In: []byte{0x80, 0x80}}
		if zero := read(&r); !zero || !r.Bad || r.Byte() != 0 || r.Uvarint() != 0 {
			t.Errorf("%s: zero %v, bad %v", name, zero, r.Bad)
		}
	}
	r := packed.Reader{In: binary.AppendUvarint(nil, math.MaxInt64+1)}
	if r.Uvarint() != 0 || !r.Bad {
		t.Error("a number of 2^63 was read")
	}
}

package offset_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/offset"
)

// FuzzDecode decodes any text, and any body under a good checksum: no panic, and no more than the text can tell.
func FuzzDecode(f *testing.F) {
	f.Add("", []byte{}, int64(0))
	f.Add("some client's own", []byte{0, 0, 3, 1, 2, 3}, int64(7))
	f.Add(offset.State{Stamp: stamp, Next: 42, Finished: offset.Ranges{{43, 44}}}.Encode(100), []byte{3, 1, 2, 0xaa, 0x55, 0xff}, int64(42))
	f.Add("keel1", slices.Repeat([]byte{62}, 40), int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, text string, body []byte, committed int64) {
		check(t, text, committed)
		check(t, offset.Seal(body), committed)
		check(t, offset.State{Next: max(committed, 0), More: []offset.Section{{1, body}}}.Encode(1<<20), max(committed, 0))
	})
}

// check wants a state that can be used as it is, whatever the text.
func check(t *testing.T, text string, committed int64) {
	t.Helper()
	s, err := offset.Decode(text, committed)
	if s.Next != committed || err != nil && (s.Finished != nil || s.More != nil) {
		t.Fatalf("%+v, %v, of %q at %d", s, err, text, committed)
	}
	if cap(s.Finished)+len(s.More) > 4*len(text) {
		t.Fatalf("%d ranges and %d sections of %d characters", cap(s.Finished), len(s.More), len(text))
	}
	at := committed
	for _, x := range s.Finished {
		if x.From <= at || x.To <= x.From {
			t.Fatalf("ranges %v beyond %d", s.Finished, committed)
		}
		at = x.To
	}
}

// FuzzEncode wants each state back that was written, and nothing else than a part of it where the room is short.
func FuzzEncode(f *testing.F) {
	f.Add(uint64(1), int64(2), int64(3), []byte{1, 1, 200, 3, 4, 255, 255, 1}, []byte("more"), 100)
	f.Add(uint64(math.MaxUint64), int64(math.MaxInt64), int64(1)<<62, slices.Repeat([]byte{1, 1}, 300), []byte{}, 60)
	f.Add(uint64(0), int64(0), int64(0), []byte{0xff, 0x3f, 1, 1, 1, 1, 0xfe, 0xfe, 2}, []byte{0}, 30)
	f.Fuzz(func(t *testing.T, owner uint64, count, next int64, runs, more []byte, limit int) {
		s := offset.State{Stamp: offset.Stamp{Owner: owner, Count: count & math.MaxInt64}, Next: next & (1<<62 - 1)}
		s.Finished = rangesOf(s.Next, runs)
		s.More = []offset.Section{{9, more}}
		back, err := offset.Decode(s.Encode(1<<24), s.Next)
		if err != nil || !reflect.DeepEqual(back, s) {
			t.Fatalf("%+v, %v, want %+v", back, err, s)
		}
		limit &= 1<<12 - 1
		text := s.Encode(limit)
		if back, err = offset.Decode(text, s.Next); len(text) > limit || (err == nil) != (text != "") {
			t.Fatalf("%d characters, limit %d: %v", len(text), limit, err)
		}
		if back.Finished != nil && !slices.Equal(back.Finished, s.Finished) {
			t.Fatalf("a part of a map: %v, want %v", back.Finished, s.Finished)
		}
	})
}

// rangesOf reads runs: a byte below 128 is a length, others are 2 to the power of what they are beyond that, at most 2 to the 50th.
func rangesOf(next int64, runs []byte) (r offset.Ranges) {
	runs = runs[:min(len(runs), 600)]
	for ; len(runs) >= 2; runs = runs[2:] {
		from := next + runLength(runs[0])
		next = from + runLength(runs[1])
		r = append(r, offset.Range{From: from, To: next})
	}
	return r
}

func runLength(b byte) int64 {
	if b < 128 {
		return int64(b) + 1
	}
	return 1 << min(int(b-128), 50)
}

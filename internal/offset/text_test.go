package offset_test

import (
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/offset"
)

var stamp = offset.Stamp{Owner: 0x0123456789abcdef, Count: 1_790_000_000}

// The format is for ever: these texts stand in the commits of running groups.
func TestTextOfACommitIsAsDocumented(t *testing.T) {
	for _, test := range []struct {
		name  string
		state offset.State
		text  string
	}{
		{"stamp", offset.State{Stamp: stamp, Next: 42}, "keel1>4l6)0v73CIl1[&FCm1j0iM"},
		{"map", offset.State{Stamp: stamp, Next: 42, Finished: offset.Ranges{{43, 44}, {50, 1050}, {1053, 1055}}}, "keel1MqR>(0v73CIl1[&FCm1j1$xSV0se=hu{93v"},
		{"far", offset.State{Stamp: stamp, Next: 42, Finished: offset.Ranges{{43, 44}, {1 << 61, 1 << 62}}}, "keel12IZtD0v73CIl1[&FCm1j1$xS$j39GA00000000Mg000000021S%nSc0%9%$D%nSc093-"},
		{"section", offset.State{Stamp: stamp, Next: 42, More: []offset.Section{{7, []byte("checkpoint")}}}, "keel1dtPj<0v73CIl1[&FCm1j1$x&+v}YB-yJaia3[U"},
		{"zero", offset.State{}, "keel1<k6iu0000000000000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if text := test.state.Encode(offset.MaxText); text != test.text {
				t.Errorf("%q, want %q", text, test.text)
			}
			back, err := offset.Decode(test.text, test.state.Next)
			if err != nil || !reflect.DeepEqual(back, test.state) {
				t.Errorf("decoded %+v, %v, want %+v", back, err, test.state)
			}
		})
	}
}

func TestWhatIsNotOursIsReplayed(t *testing.T) {
	zero := offset.State{}.Encode(offset.MaxText) // ends in zeros: what is 2 to the 32nd, cut to 32 bits
	ours := offset.State{Stamp: stamp, Next: 42, Finished: offset.Ranges{{43, 44}}}.Encode(offset.MaxText)
	for _, test := range []struct {
		name, text string
		committed  int64
		want       error
	}{
		{"empty", "", 42, offset.ErrForeign},
		{"of another client", "consumer-1@host", 42, offset.ErrForeign},
		{"of another client, not ASCII", "日本語\xff\x00", 42, offset.ErrForeign},
		{"magic alone", "keel", 42, offset.ErrForeign},
		{"later version", "keel2" + ours[5:], 42, offset.ErrVersion},
		{"no body", "keel1", 42, offset.ErrDamaged},
		{"cut", ours[:len(ours)-1], 42, offset.ErrDamaged},
		{"longer", ours + "0", 42, offset.ErrDamaged},
		{"another letter", ours[:12] + "#" + ours[13:], 42, offset.ErrDamaged},
		{"not of the alphabet", ours[:12] + "," + ours[13:], 42, offset.ErrDamaged},
		{"32 bits and one more", strings.Replace(zero, "00000", "%nSc1", 1), 0, offset.ErrDamaged},
		{"16 bits and one more", zero[:len(zero)-3] + "961", 0, offset.ErrDamaged},
		{"offsets reset", ours, 0, offset.ErrMoved},
		{"no offset", ours, -1, offset.ErrMoved},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := offset.State{Next: test.committed}
			if errors.Is(test.want, offset.ErrMoved) {
				want.Stamp = stamp
			}
			s, err := offset.Decode(test.text, test.committed)
			if !errors.Is(err, test.want) || !reflect.DeepEqual(s, want) {
				t.Errorf("%+v, %v, want %+v, %v", s, err, want, test.want)
			}
		})
	}
}

// A map that says nonsense under a good checksum is refused as a whole: half of a map could be of another writer's making.
func TestImpossibleMapsAreRefused(t *testing.T) {
	for _, test := range []struct {
		name string
		body []byte
	}{
		{"no parameters", []byte{}},
		{"no number of runs", []byte{0, 0}},
		{"parameter too large", []byte{63, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1}},
		{"second parameter too large", []byte{0, 63, 1, 3, 0, 0, 0, 0, 0, 0, 0, 0}},
		{"more runs than bits", []byte{0, 0, 9, 0xff, 0xff}},
		{"more runs than memory", []byte{0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}},
		{"ends in zeros", []byte{0, 0, 1, 0x01, 0x00}},
		{"ends in a run", []byte{40, 0, 1, 0xff}},
		{"a run beyond int64", append([]byte{62, 0, 1, 0x04}, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)},
		{"a run one beyond int64", runTo(math.MaxInt64 - 42)},
		{"runs beyond int64 in all", append([]byte{62, 62, 1}, slices.Repeat([]byte{0xff}, 20)...)},
		{"more than int64 before the shift", append([]byte{60, 0, 1}, append(make([]byte, 8), slices.Repeat([]byte{0xff}, 20)...)...)},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := offset.State{Stamp: stamp, Next: 42, More: []offset.Section{{1, test.body}}}.Encode(offset.MaxText)
			s, err := offset.Decode(text, 42)
			if !errors.Is(err, offset.ErrDamaged) || !reflect.DeepEqual(s, offset.State{Next: 42}) {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
}

// runTo is a map of a hole at 42 and a finished run of the given length from 43 on, with k = 62.
func runTo(length uint64) []byte {
	low := (length - 1) & (1<<62 - 1)
	content := binary.LittleEndian.AppendUint64([]byte{0, 62, 1}, 0b101|low<<3) // 1 for the hole, 01 for one time 2 to the 62nd
	return append(content, byte(low>>61))
}

// Long codes come back wherever in a byte they begin.
func TestRunsOfAnyLengthComeBack(t *testing.T) {
	for i := range int64(62 * 16) {
		var finished offset.Ranges
		for at := range i / 62 {
			finished = append(finished, offset.Range{1 + 3*at, 2 + 3*at})
		}
		finished = append(finished, offset.Range{1 << 61, 1<<61 + 1<<(i%62)})
		s, err := offset.Decode(offset.State{Finished: finished}.Encode(offset.MaxText), 0)
		if err != nil || !slices.Equal(s.Finished, finished) {
			t.Errorf("%v, %v, want %v", s.Finished, err, finished)
		}
	}
}

func TestLongestRunIsRead(t *testing.T) {
	text := offset.State{Next: 42, More: []offset.Section{{1, runTo(math.MaxInt64 - 43)}}}.Encode(offset.MaxText)
	s, err := offset.Decode(text, 42)
	if err != nil || !slices.Equal(s.Finished, offset.Ranges{{43, math.MaxInt64}}) {
		t.Errorf("%v, %v", s, err)
	}
}

func TestCutBodiesAreRefused(t *testing.T) {
	owner := []byte("12345678")
	over := slices.Repeat([]byte{0xff}, 11)
	for _, test := range []struct {
		name string
		body []byte
		ok   bool
	}{
		{"whole", append(owner[:8:8], 5, 42), true},
		{"nothing", nil, false},
		{"owner cut", owner[:7], false},
		{"no count", owner, false},
		{"count cut", append(owner[:8:8], 0x80), false},
		{"no frontier", append(owner[:8:8], 5), false},
		{"frontier beyond 64 bits", append(append(owner[:8:8], 5), over...), false},
		{"frontier beyond 63 bits", append(append(owner[:8:8], 5), append(over[:9:9], 1)...), false},
		{"tag alone", append(owner[:8:8], 5, 42, 9), false},
		{"empty section", append(owner[:8:8], 5, 42, 9, 0), true},
		{"content cut", append(owner[:8:8], 5, 42, 9, 2, 0), false},
		{"content longer than memory", append(append(owner[:8:8], 5, 42, 9), append(over[:8:8], 0x7f)...), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := offset.Decode(offset.Seal(test.body), 42); (err == nil) != test.ok || !test.ok && !errors.Is(err, offset.ErrDamaged) {
				t.Error(err)
			}
		})
	}
}

// A text of a later writer has sections that this one does not know: they are handed on, and the map between them is read.
func TestUnknownSectionsAreSkipped(t *testing.T) {
	later := offset.State{Stamp: stamp, Next: 42, More: []offset.Section{
		{200, []byte("new")}, {1, []byte{0, 0, 1, 0b11}}, {0, []byte{}},
	}}
	s, err := offset.Decode(later.Encode(offset.MaxText), 42)
	if err != nil || !slices.Equal(s.Finished, offset.Ranges{{43, 44}}) {
		t.Errorf("%+v, %v", s, err)
	}
	if want := []offset.Section{{200, []byte("new")}, {0, []byte{}}}; !reflect.DeepEqual(s.More, want) {
		t.Errorf("further sections %v, want %v", s.More, want)
	}
}

// What is left out is the least important part that does not fit; nothing is cut in the middle.
func TestTextIsNeverLongerThanItMayBe(t *testing.T) {
	full := offset.State{Stamp: stamp, Next: 42, More: []offset.Section{{2, make([]byte, 10)}, {3, make([]byte, 50)}}}
	for i := range int64(60) {
		full.Finished = append(full.Finished, offset.Range{44 + i*(i+1), 45 + i*(i+1)})
	}
	var kept []string
	for limit := 300; limit >= -1; limit-- {
		text := full.Encode(limit)
		if len(text) > max(0, limit) {
			t.Fatalf("%d characters, limit %d", len(text), limit)
		}
		if p := parts(t, text); len(kept) == 0 || kept[len(kept)-1] != p {
			kept = append(kept, p)
		}
		if full.Encode(len(text)) != text {
			t.Fatalf("%d characters do not fit into as many", len(text))
		}
	}
	want := []string{"stamp map 2 3", "stamp map 2", "stamp map", "stamp 2 3", "stamp 2", "stamp", "nothing"}
	if !slices.Equal(kept, want) {
		t.Errorf("with less and less room: %q, want %q", kept, want)
	}
}

// parts says what a text has.
func parts(t *testing.T, text string) string {
	t.Helper()
	if text == "" {
		return "nothing"
	}
	s, err := offset.Decode(text, 42)
	if err != nil {
		t.Fatal(err)
	}
	have := []string{"stamp"}
	if s.Finished != nil {
		have = append(have, "map")
	}
	for _, x := range s.More {
		have = append(have, string('0'+rune(x.Tag)))
	}
	return strings.Join(have, " ")
}

func TestNonsenseIsNotWritten(t *testing.T) {
	for _, s := range []offset.State{{Next: -1}, {Stamp: offset.Stamp{Count: -1}}} {
		if text := s.Encode(offset.MaxText); text != "" {
			t.Errorf("%+v: %q", s, text)
		}
	}
	for _, finished := range []offset.Ranges{
		{{42, 43}},             // at the frontier
		{{41, 50}},             // before it
		{{44, 44}},             // empty
		{{44, 43}},             // backwards
		{{50, 60}, {60, 70}},   // touching
		{{50, 60}, {44, 45}},   // out of order
		{{43, math.MinInt64}},  // backwards, far
		{{math.MinInt64, 100}}, // before it, far
	} {
		text := offset.State{Stamp: stamp, Next: 42, Finished: finished}.Encode(offset.MaxText)
		if parts(t, text) != "stamp" {
			t.Errorf("%v became a map", finished)
		}
	}
}

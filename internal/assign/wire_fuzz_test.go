package assign_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/assign"
)

// FuzzParse reads any bytes, and any body under a good checksum: no panic, no more memory than the bytes are worth, and what was read
// can be written and read again.
func FuzzParse(f *testing.F) {
	f.Add(report.Encode(subscribed), []byte{})
	f.Add(assignment.Encode(subscribed), slices.Concat(make([]byte, 13), []byte{1, 5, 0, 3<<1 | 1, 0, 255, 255}))
	f.Add([]byte("keelm\x02"), slices.Concat(make([]byte, 13), []byte{1, 9, 0, 6 << 1, 1, 2, 3, 4, 5, 6, 5, 3, 1, 2, 0, 99, 1, 1}))
	f.Add([]byte("keela\x01"), slices.Concat(make([]byte, 3), []byte{1, 4, 1, 2 << 1, 1, 2, 2, 3, 1, 3, 7}))
	f.Fuzz(func(t *testing.T, data, body []byte) {
		for _, d := range [][]byte{data, assign.Seal('m', subscribed, body), assign.Seal('a', subscribed, body)} {
			parseReport(t, d)
			parseAssignment(t, d)
		}
	})
}

func parseReport(t *testing.T, data []byte) {
	t.Helper()
	r, err := assign.ParseReport(data, subscribed)
	if err != nil {
		if r != nil {
			t.Fatalf("%+v with %v", r, err)
		}
		return
	}
	checkSets(t, len(data), r.Busy, r.Marked, r.Over, r.Stuck, r.Owned)
	again, err := assign.ParseReport(r.Encode(subscribed), subscribed)
	if err != nil || !again.CutShort && !reflect.DeepEqual(cleaned(*again), cleaned(*r)) {
		t.Fatalf("%+v, %v, want %+v", again, err, r)
	}
}

func parseAssignment(t *testing.T, data []byte) {
	t.Helper()
	a, err := assign.ParseAssignment(data, subscribed)
	if err != nil {
		return
	}
	checkSets(t, len(data), a.HandOver, a.Stop)
	again, err := assign.ParseAssignment(a.Encode(subscribed), subscribed)
	a.HandOver, a.Stop = filled(a.HandOver), filled(a.Stop)
	again.HandOver, again.Stop = filled(again.HandOver), filled(again.Stop)
	if err != nil || !reflect.DeepEqual(again, a) {
		t.Fatalf("%+v, %v, want %+v", again, err, a)
	}
}

// checkSets wants numbers in order, and no more of them than the bytes can tell.
func checkSets(t *testing.T, size int, sets ...assign.Partitions) {
	t.Helper()
	room := 0
	for _, s := range sets {
		for topic, numbers := range s {
			room += cap(numbers)
			if len(numbers) == 0 || !slices.Contains(subscribed, topic) || numbers[0] < 0 {
				t.Fatalf("%q: %v", topic, numbers)
			}
			if !slices.IsSorted(numbers) || len(slices.Compact(slices.Clone(numbers))) != len(numbers) {
				t.Fatalf("%q: %v is not in order", topic, numbers)
			}
		}
	}
	if room > 16*size {
		t.Fatalf("room for %d numbers in %d bytes", room, size)
	}
}

// cleaned makes one of what is written in the same way: no section, and one of no topic.
func cleaned(r assign.Report) assign.Report {
	r.Busy, r.Marked, r.Over = filled(r.Busy), filled(r.Marked), filled(r.Over)
	r.Stuck, r.Owned = filled(r.Stuck), filled(r.Owned)
	return r
}

func filled(s assign.Partitions) assign.Partitions {
	if len(s) == 0 {
		return nil
	}
	return s
}

// FuzzEncode wants each state back that was written, and nothing else than a part of it where the room is short.
func FuzzEncode(f *testing.F) {
	f.Add(uint64(1), int32(2), uint8(5), []byte{1, 2, 3, 255, 4, 0, 9, 9, 200, 7}, 100)
	f.Add(^uint64(0), int32(1<<30), uint8(255), slices.Repeat([]byte{1, 250, 30, 2}, 200), 60)
	f.Fuzz(func(t *testing.T, owner uint64, generation int32, flags uint8, choices []byte, room int) {
		d := dice(choices[:min(len(choices), 2_000)])
		r := assign.Report{
			Owner: owner, Generation: max(generation, 0), StampedSince: max(generation/2, 0), Requests: int64(flags), Slots: int(flags),
			Draining: flags&1 > 0, Ghost: flags&2 > 0, Stamps: flags&4 > 0,
			Busy: d.sets(), Marked: d.sets(), Over: d.sets(), Stuck: d.sets(), Owned: d.sets(),
		}
		back, err := assign.ParseReport(r.Encode(names), names)
		if err != nil || !reflect.DeepEqual(*back, r) {
			t.Fatalf("%+v, %v, want %+v", back, err, r)
		}
		room &= 1<<10 - 1
		data := r.EncodeWithin(names, room)
		if back, err = assign.ParseReport(data, names); err != nil || len(data) > max(room, 60) {
			t.Fatalf("%d bytes, %v", len(data), err)
		}
		checkPart(t, back.Busy, r.Busy)
		checkPart(t, back.Owned, r.Owned)
		if back.CutShort != (len(back.Busy) < len(r.Busy)) {
			t.Fatalf("cut short %v, with %d topics of %d", back.CutShort, len(back.Busy), len(r.Busy))
		}
	})
}

// checkPart wants some topics of all, each as a whole.
func checkPart(t *testing.T, part, all assign.Partitions) {
	t.Helper()
	for topic, numbers := range part {
		if !slices.Equal(numbers, all[topic]) {
			t.Fatalf("%q: %v, want %v", topic, numbers, all[topic])
		}
	}
}

// sets are some of a few topics, with small gaps and large ones.
func (d *dice) sets() (s assign.Partitions) {
	for _, topic := range names {
		at := int32(d.roll(20)) - 1
		for range d.roll(12) {
			at += 1 + int32(d.roll(3))<<d.roll(20)
			if s == nil {
				s = assign.Partitions{}
			}
			s[topic] = append(s[topic], at)
		}
	}
	return s
}

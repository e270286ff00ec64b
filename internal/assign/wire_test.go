package assign_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/assign"
)

var (
	subscribed = []string{"payments", "orders"}
	report     = assign.Report{
		Owner: 0x0123456789abcdef, Generation: 300, StampedSince: 7, Requests: 2, Slots: 16, Draining: true, Stamps: true,
		Busy:   assign.Partitions{"orders": {0, 1, 2, 3, 4, 9}, "payments": {1_000}},
		Marked: assign.Partitions{"payments": {5, 1_000}},
		Over:   assign.Partitions{"orders": {9}},
		Stuck:  assign.Partitions{"orders": {4}},
		Owned:  assign.Partitions{"orders": {0, 1, 2, 3, 4, 5, 9}},
	}
	assignment = assign.Assignment{
		Members: 5, StampedSince: 7, Drained: true,
		HandOver: assign.Partitions{"orders": {3, 4}, "payments": {0}}, Stop: assign.Partitions{"payments": {0}},
	}
)

// The formats are for ever: members of different versions meet in one group.
func TestDataIsAsDocumented(t *testing.T) {
	body := func(data []byte) []byte { return data[10:] }
	for _, test := range []struct {
		name       string
		data, want []byte
	}{
		{"head of a report", report.Encode(subscribed)[:6], []byte("keelm\x01")},
		{"head of an assignment", assignment.Encode(subscribed)[:6], []byte("keela\x01")},
		{"empty report", body(assign.Report{}.Encode(nil)), make([]byte, 13)},
		{"empty assignment", body(assign.Assignment{}.Encode(nil)), make([]byte, 3)},
		{"report", body(report.Encode(subscribed)), []byte{
			0b101, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xac, 0x02, 7, 2, 16,
			1, 9, 0, 3<<1 | 1, 0, 0b0000_1111, 0b1, 0, 2 << 1, 0xe8, 0x07, // busy: a bitmap of what lies beyond 0, a list
			2, 5, 1, 3 << 1, 5, 0xe2, 0x07, // marked: 1,000 = 5 + 1 + 994
			3, 3, 0, 1 << 1, 9,
			4, 3, 0, 1 << 1, 4,
			5, 5, 0, 3<<1 | 1, 0, 0b0001_1111, 0b1, // owned
		}},
		{"assignment", body(assignment.Encode(subscribed)), []byte{
			1, 5, 7,
			1, 7, 0, 2 << 1, 3, 0, 0, 1 << 1, 0,
			2, 3, 1, 1 << 1, 0,
		}},
	} {
		if !bytes.Equal(test.data, test.want) {
			t.Errorf("%s:\n%v, want\n%v", test.name, test.data, test.want)
		}
	}
}

func TestDataComesBack(t *testing.T) {
	r, err := assign.ParseReport(report.Encode(subscribed), []string{"orders", "payments", "orders"})
	if err != nil || !reflect.DeepEqual(*r, report) {
		t.Errorf("%+v, %v, want %+v", r, err, report)
	}
	a, err := assign.ParseAssignment(assignment.Encode(subscribed), []string{"orders", "payments"})
	if err != nil || !reflect.DeepEqual(a, assignment) {
		t.Errorf("%+v, %v, want %+v", a, err, assignment)
	}
}

func TestWhatIsNotOursSaysNothing(t *testing.T) {
	ours := report.Encode(subscribed)
	later, flipped := slices.Clone(ours), slices.Clone(ours)
	later[5], flipped[20] = 2, flipped[20]^1
	for _, test := range []struct {
		name   string
		data   []byte
		topics []string
		want   error
	}{
		{"none", nil, subscribed, assign.ErrForeign},
		{"of another client", []byte(`{"hostname":"a"}`), subscribed, assign.ErrForeign},
		{"magic alone", ours[:5], subscribed, assign.ErrForeign},
		{"later version", later, subscribed, assign.ErrVersion},
		{"later version, cut", later[:6], subscribed, assign.ErrVersion},
		{"head alone", ours[:6], subscribed, assign.ErrDamaged},
		{"cut", ours[:len(ours)-1], subscribed, assign.ErrDamaged},
		{"longer", append(slices.Clone(ours), 0), subscribed, assign.ErrDamaged},
		{"another bit", flipped, subscribed, assign.ErrDamaged},
		{"other topics", ours, []string{"orders", "refunds"}, assign.ErrDamaged},
		{"fewer topics", ours, []string{"orders"}, assign.ErrDamaged},
		{"longer than may be", tooLong(), subscribed, assign.ErrDamaged},
		{"topics that read the same in a row", assign.Report{}.Encode([]string{"ab", "c"}), []string{"a", "bc"}, assign.ErrDamaged},
	} {
		if r, err := assign.ParseReport(test.data, test.topics); !errors.Is(err, test.want) || r != nil {
			t.Errorf("%s: %+v, %v, want %v", test.name, r, err, test.want)
		}
	}
	if a, err := assign.ParseAssignment(nil, nil); !errors.Is(err, assign.ErrForeign) || !reflect.DeepEqual(a, assign.Assignment{}) {
		t.Errorf("no assignment data: %+v, %v", a, err)
	}
}

// tooLong is a report with a long section of a later version.
func tooLong() []byte {
	body := append(make([]byte, 13), 99, 0x80, 0x80, 0x01) // of 16 KiB
	return assign.Seal('m', subscribed, append(body, make([]byte, assign.MaxData)...))
}

// S3: when a strategy's SubscriptionUserData fails, sarama sends the last assignment data in its place.
func TestS3AssignmentDataIsNoReport(t *testing.T) {
	if r, err := assign.ParseReport(assignment.Encode(subscribed), subscribed); !errors.Is(err, assign.ErrForeign) {
		t.Errorf("%+v, %v", r, err)
	}
	if a, err := assign.ParseAssignment(report.Encode(subscribed), subscribed); !errors.Is(err, assign.ErrForeign) {
		t.Errorf("%+v, %v", a, err)
	}
}

// S3: there is no error that it could return, whatever the state.
func TestS3EncodeTakesAnyState(t *testing.T) {
	wild := assign.Report{
		Generation: -1, StampedSince: math.MinInt32, Requests: -1, Slots: -1,
		Busy:  assign.Partitions{"orders": {7, -1, 7, math.MaxInt32}, "gone": {1}, "payments": {-3}},
		Owned: assign.Partitions{"": {1}},
	}
	got, err := assign.ParseReport(wild.Encode(subscribed), subscribed)
	want := &assign.Report{Busy: assign.Partitions{"orders": {7, math.MaxInt32}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

func TestImpossibleDataIsRefused(t *testing.T) {
	head := slices.Concat(make([]byte, 13))
	for _, test := range []struct {
		name     string
		sections []byte
	}{
		{"tag alone", []byte{1}},
		{"section beyond the end", []byte{1, 9, 0}},
		{"unknown section beyond the end", []byte{99, 1}},
		{"section twice", []byte{1, 3, 0, 2, 0, 1, 3, 0, 2, 0}},
		{"unknown section twice", []byte{99, 0, 99, 0}},
		{"topic beyond the last", []byte{1, 3, 2, 2, 0}},
		{"topic beyond the last, counted up", []byte{1, 6, 1, 2, 0, 0, 2, 0}},
		{"topic beyond any", append([]byte{1, 12}, append(binaryMax(), 2, 0)...)},
		{"set without a number", []byte{1, 2, 0, 0}},
		{"set beyond the end", []byte{1, 3, 0, 200, 0}},
		{"number beyond int32", []byte{1, 7, 0, 5 << 1, 0xff, 0xff, 0xff, 0xff, 0x0f}},
		{"gap beyond int32", []byte{1, 8, 0, 6 << 1, 0xff, 0xff, 0xff, 0xff, 0x07, 0}},
		{"gap beyond int64", append([]byte{1, 14, 0, 12 << 1, 1}, append(binaryMax(), 0)...)},
		{"sum beyond int64", []byte{1, 12, 0, 10 << 1, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}},
		{"bitmap beyond int32", []byte{1, 8, 0, 6<<1 | 1, 0xff, 0xff, 0xff, 0xff, 0x07, 1}},
	} {
		data := assign.Seal('m', subscribed, append(slices.Clone(head), test.sections...))
		if r, err := assign.ParseReport(data, subscribed); !errors.Is(err, assign.ErrDamaged) {
			t.Errorf("%s: %+v, %v", test.name, r, err)
		}
	}
	for cut := range head {
		if r, err := assign.ParseReport(assign.Seal('m', nil, head[:cut]), nil); !errors.Is(err, assign.ErrDamaged) {
			t.Errorf("%d bytes of a head: %+v, %v", cut, r, err)
		}
	}
}

// binaryMax is a uvarint of 2 to the 63rd.
func binaryMax() []byte {
	return []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}
}

// What a later version adds is passed over.
func TestUnknownSectionsAndFlagsAreSkipped(t *testing.T) {
	body := append([]byte{0b1111_0100}, make([]byte, 12)...)
	body = append(body, 200, 3, 1, 2, 3, 1, 3, 0, 2, 7, 77, 0)
	r, err := assign.ParseReport(assign.Seal('m', subscribed, body), subscribed)
	want := &assign.Report{Stamps: true, Busy: assign.Partitions{"orders": {7}}}
	if err != nil || !reflect.DeepEqual(r, want) {
		t.Errorf("%+v, %v, want %+v", r, err, want)
	}
	a, err := assign.ParseAssignment(assign.Seal('a', subscribed, []byte{0b10, 3, 1, 9, 1, 5}), subscribed)
	if err != nil || !reflect.DeepEqual(a, assign.Assignment{Members: 3, StampedSince: 1}) {
		t.Errorf("%+v, %v", a, err)
	}
}

// What does not fit is left out, the least important first, and what is left can be read.
func TestWhatDoesNotFitIsLeftOut(t *testing.T) {
	all := len(report.Encode(subscribed))
	order := []func(r *assign.Report) *assign.Partitions{
		func(r *assign.Report) *assign.Partitions { return &r.Owned },
		func(r *assign.Report) *assign.Partitions { return &r.Stuck },
		func(r *assign.Report) *assign.Partitions { return &r.Over },
		func(r *assign.Report) *assign.Partitions { return &r.Marked },
	}
	want := report
	for i, sizes := 0, []int{0, 7, 5, 5, 7}; i < 5; i++ {
		all -= sizes[i]
		if i > 0 {
			*order[i-1](&want) = nil
		}
		got, err := assign.ParseReport(want.EncodeWithin(subscribed, all), subscribed)
		if err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%d bytes: %+v, %v, want %+v", all, got, err, want)
		}
	}
	want.CutShort, want.Busy = true, assign.Partitions{"orders": report.Busy["orders"]}
	got, err := assign.ParseReport(report.EncodeWithin(subscribed, all-1), subscribed)
	if err == nil {
		got.Over, got.Stuck = nil, nil // they may take the room
	}
	if err != nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	least := assignment.EncodeWithin(subscribed, 0)
	if a, err := assign.ParseAssignment(least, subscribed); err != nil || a.Members != 5 || a.HandOver != nil || a.Stop != nil {
		t.Errorf("%+v, %v", a, err)
	}
}

// E17: a join that is repeated with other bytes throws the round away.
func TestE17TheSameStateGivesTheSameBytes(t *testing.T) {
	want := report.Encode(subscribed)
	for range 20 {
		again := report
		again.Busy = assign.Partitions{"payments": {1_000, 1_000}, "orders": {9, 4, 3, 2, 1, 0}, "none": nil}
		if got := again.Encode([]string{"orders", "payments"}); !bytes.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}

// E18: the broker keeps the group in one record of 1 MB, of which 8 bytes for each partition are sarama's own.
func TestE18AGroupOf10000PartitionsTakesLittleRoom(t *testing.T) {
	one := assign.Report{Owner: math.MaxUint64, Generation: math.MaxInt32, StampedSince: math.MaxInt32, Requests: 1 << 30, Slots: 1_000}
	one.Busy = assign.Partitions{"orders": numbers(10_000)}
	one.Marked, one.Owned = one.Busy, one.Busy
	if n := len(one.Encode(subscribed)); n > 4_000 {
		t.Errorf("one member with all of them: %d bytes", n)
	}
	sum := 0
	for i := range 1_000 {
		each := one
		each.Busy = assign.Partitions{"orders": nil}
		for j := range 10 {
			each.Busy["orders"] = append(each.Busy["orders"], int32(i+1_000*j))
		}
		each.Marked, each.Owned = each.Busy, each.Busy
		told := assign.Assignment{Members: 1_000, StampedSince: math.MaxInt32, HandOver: each.Busy, Stop: each.Busy}
		sum += len(each.Encode(subscribed)) + len(told.Encode(subscribed))
	}
	if sum > 200_000 {
		t.Errorf("1,000 members with ten each: %d bytes", sum)
	}
}

// E18: and no member takes more than its bound, whatever it has.
func TestE18DataIsBounded(t *testing.T) {
	huge := assign.Report{Busy: assign.Partitions{}, Owned: assign.Partitions{}}
	var topics []string
	for i := range 3_000 {
		name := fmt.Sprintf("topic-%d", i)
		topics = append(topics, name)
		huge.Busy[name], huge.Owned[name] = []int32{1, 1_000, 1_000_000}, numbers(100)
	}
	data := huge.Encode(topics)
	if r, err := assign.ParseReport(data, topics); err != nil || !r.CutShort || len(data) > assign.MaxData || len(r.Busy) < 1_500 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	told := assign.Assignment{HandOver: huge.Busy, Stop: huge.Busy}.Encode(topics)
	if a, err := assign.ParseAssignment(told, topics); err != nil || len(told) > assign.MaxData || len(a.HandOver) < 1_500 {
		t.Errorf("%d bytes, %v", len(told), err)
	}
}

// E19: a group whose assignments have no data may be taken over by a member of the newer protocol.
func TestE19AssignmentDataIsNeverEmpty(t *testing.T) {
	if data := (assign.Assignment{}).EncodeWithin(nil, 0); len(data) == 0 {
		t.Error("no data for a member that gets nothing")
	}
}

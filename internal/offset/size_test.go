package offset_test

import (
	"math/rand/v2"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/offset"
)

// behindOne delivers n messages after a slow one and finishes those that are chosen, the last one always.
func behindOne(n int64, finished func(i int64) bool) *offset.Tracker {
	tr := offset.New(first, nil)
	tr.Deliver(first)
	for i := range n {
		tr.Deliver(first + 1 + i)
		if i == n-1 || finished(i) {
			tr.Finish(first + 1 + i)
		}
	}
	return tr
}

// first is an offset late in a partition's life, so that it takes some room.
const first = 1 << 40

func textOf(tr *offset.Tracker) string {
	return offset.State{Stamp: longest, Next: tr.Next(), Finished: tr.Ranges()}.Encode(offset.MaxText)
}

func TestMapsFit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	of := func(p float64) func(int64) bool { return func(int64) bool { return r.Float64() < p } }
	for _, test := range []struct {
		name     string
		n        int64
		finished func(i int64) bool
		chars    int // at most
	}{
		{"1,000,000 behind one", 1_000_000, func(int64) bool { return true }, 55},
		{"half of 20,000, scattered", 20_000, of(.5), 3_300},
		{"half of 24,999, scattered", 24_999, of(.5), offset.MaxText},
		{"every other of 24,999", 24_999, func(i int64) bool { return i%2 == 0 }, offset.MaxText},
		{"pairs in 24,999", 24_999, func(i int64) bool { return i%4 < 2 }, offset.MaxText},
		{"one of three in 24,999", 24_999, of(1. / 3), offset.MaxText},
		{"all but 1,000 of 24,999", 24_999, of(.96), 1_200},
		{"1,000 of 24,999", 24_999, of(.04), 1_200},
		{"12,000 and half of 12,000", 24_000, func(i int64) bool { return i < 12_000 || r.IntN(2) == 0 }, 3_100},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := behindOne(test.n, test.finished)
			text := textOf(tr)
			s, err := offset.Decode(text, first)
			if err != nil || len(s.Finished) == 0 || len(s.Finished) != len(tr.Ranges()) {
				t.Fatalf("%d of %d ranges in %d characters: %v", len(s.Finished), len(tr.Ranges()), len(text), err)
			}
			t.Logf("%d ranges in %d characters, bound %d", len(s.Finished), len(text), tr.Bound())
			if len(text) > test.chars || tr.Bound() < len(text) {
				t.Errorf("%d characters, want at most %d, bound %d", len(text), test.chars, tr.Bound())
			}
		})
	}
}

// 10,000 finished offsets scattered at random behind a slow one, in a log of any length that intake may have read for them.
func TestTenThousandScatteredFit(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		span := 10_000 + r.IntN(15_000)
		chosen := map[int64]bool{}
		for _, i := range r.Perm(span - 1)[:10_000-1] {
			chosen[int64(i)] = true
		}
		tr := behindOne(int64(span), func(i int64) bool { return chosen[i] })
		s, err := offset.Decode(textOf(tr), first)
		n := int64(0)
		for _, x := range s.Finished {
			n += x.To - x.From
		}
		if err != nil || n != 10_000 {
			t.Errorf("of a span of %d, %d finished were kept: %v", span, n, err)
		}
	}
}

// Whatever happens to 25,000 messages in a row, the map fits: the bound says so before anything is finished.
func TestAnyPatternOf25000Fits(t *testing.T) {
	tr := offset.New(first, nil)
	for i := range int64(25_000) {
		tr.Deliver(first + i)
	}
	if tr.Bound() > offset.MaxText {
		t.Errorf("up to %d characters", tr.Bound())
	}
}

// The bound is no larger than it has to be: there are patterns that take it all, as a bitmap and in Rice code.
func TestBoundIsReached(t *testing.T) {
	for _, test := range []struct {
		name             string
		messages, stride int64
		less             int // characters
	}{
		{"a bitmap", 200, 1, 0},
		{"runs of 513", 2_000, 513, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := offset.New(1<<62, nil)
			for i := range test.messages {
				tr.Deliver(1<<62 + i*test.stride)
			}
			for i := int64(1); i < test.messages; i += 2 {
				tr.Finish(1<<62 + i*test.stride)
			}
			if n := len(textOf(tr)); n > tr.Bound() || n < tr.Bound()-test.less {
				t.Errorf("%d characters, bound %d", n, tr.Bound())
			}
		})
	}
}

// With nothing unfinished, a gap lies below the frontier and costs nothing.
func TestBoundAfterAGapThatIsCommitted(t *testing.T) {
	tr := offset.New(0, nil)
	least := tr.Bound()
	if n := tr.BoundAfter(1 << 40); n != least {
		t.Errorf("%d characters, want %d", n, least)
	}
	if tr.Deliver(1 << 40); tr.Bound() != least {
		t.Errorf("%d characters, want %d", tr.Bound(), least)
	}
}

// Intake that asks before it delivers never makes a map that does not fit, with gaps of any size and what was finished before; and
// it gets to at least 25,000 messages where there are no gaps.
func TestIntakeThatAsksNeverOverflows(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 2))
		tr, o := offset.New(first, randomRanges(r)), int64(first)
		var running []int64
		for tr.BoundAfter(o) <= offset.MaxText {
			if tr.Deliver(o) {
				running = append(running, o)
			}
			o += 1 + gap(r, int(seed%8))
		}
		if seed == 0 && tr.Pending() < 25_000 {
			t.Errorf("only %d messages without a gap", tr.Pending())
		}
		r.Shuffle(len(running), func(i, j int) { running[i], running[j] = running[j], running[i] })
		wantMapsFit(t, tr, running)
	}
}

func randomRanges(r *rand.Rand) (ranges offset.Ranges) {
	at := int64(first)
	for range r.IntN(1_000) {
		at += 1 + r.Int64N(50)
		ranges = append(ranges, offset.Range{From: at, To: at + 1 + r.Int64N(5)})
		at += 6
	}
	return ranges
}

// gap is sometimes large: all orders of magnitude are as likely.
func gap(r *rand.Rand, often int) int64 {
	if r.IntN(8) >= often {
		return 0
	}
	return r.Int64N(1 << r.IntN(25))
}

// wantMapsFit finishes messages in the given order and looks at the text now and then.
func wantMapsFit(t *testing.T, tr *offset.Tracker, running []int64) {
	t.Helper()
	for i, o := range running {
		tr.Finish(o)
		if i%500 != 250 || len(tr.Ranges()) == 0 {
			continue
		}
		if s, err := offset.Decode(textOf(tr), tr.Next()); err != nil || len(s.Finished) == 0 {
			t.Fatalf("no room for %d ranges, bound %d: %v", len(tr.Ranges()), tr.Bound(), err)
		}
	}
}

func TestAnyPatternOfAFittingSpanFits(t *testing.T) {
	for limit, least := range map[int]int64{0: 0, 40: 0, 100: 200, 4096: 25_000} {
		span := offset.FittingSpan(limit)
		if span < least {
			t.Errorf("%d offsets fit into %d characters, want %d at least", span, limit, least)
		}
		tr := offset.New(0, nil)
		for o := range span {
			tr.Deliver(o)
		}
		if span > 0 && tr.Bound() > limit {
			t.Errorf("%d offsets take up to %d of %d characters", span, tr.Bound(), limit)
		}
		for range 10 {
			tr.Deliver(tr.Last() + 1)
		}
		if tr.Bound() <= limit {
			t.Errorf("more than %d offsets fit into %d characters", span, limit)
		}
	}
}

package offset

import (
	"math"
	"sort"
)

// headBytes is the most that comes before the sections: checksum, owner id, take-over count, frontier.
const headBytes = 4 + 8 + 9 + 9

// Bound returns how many characters the text of a [State] with this tracker's Next and Ranges has at most, now and after whatever
// happens as long as nothing more is delivered. It takes constant time. Intake that pauses before Bound passes the room there is
// never makes a map that does not fit.
//
// With U messages unfinished, the map spans at most S offsets, from Next to the last one delivered or finished earlier. Each run of
// unfinished offsets has one of the U messages or ends at one of the B ranges that are still to come, and each finished run follows
// one of them: R = min(2(U+B), S) runs at most (S rounded down to an even number). An end makes U smaller or S, never greater, and the number of bits
//
//	min(S, R(2 + log2(S/R)))
//
// rises with both (for R up to S). It holds for each of the two kinds of runs, n of them with s offsets in all, of the mean m = s/n:
// k = 0 takes s bits, and k = floor(log2 m) at most (s-n)/2^k + n(1+k) <= n(m/2^k + 1 + k). With x = m/2^k, 1 <= x < 2, this is
// n(1 + log2 m + x - log2 x), and x - log2 x is at most 1 there. The encoder takes the better one or a better still. The logarithm
// is concave, so that both kinds together take no more than R runs of the mean length do.
func (t *Tracker) Bound() int {
	return bound(t.unfinished+len(t.before), t.end()-t.Next())
}

// BoundAfter returns what Bound will be, at most, once an offset is delivered. One gap in the log can move it far: intake that asks
// before it delivers is safe from that.
func (t *Tracker) BoundAfter(offset int64) int {
	first := t.Next()
	if t.unfinished == 0 {
		first = max(first, offset)
	}
	return bound(t.unfinished+1+len(t.before), max(t.end(), offset+1)-first)
}

// FittingSpan returns how many offsets a map may span so that it fits into a text of a length whatever its pattern is, 0 for none. As
// long as no more lie between Next and the message to be delivered, Bound need not be asked.
func FittingSpan(limit int) int64 {
	return int64(sort.Search(8*max(limit, 0), func(span int) bool { return bound(span+1, int64(span+1)) > limit }))
}

// end returns the offset after the last one that the map can have.
func (t *Tracker) end() int64 {
	if n := len(t.before); n > 0 {
		return t.before[n-1].To
	}
	return max(t.last+1, t.floor)
}

// bound is for a map of at most so many pairs of runs in a span.
func bound(pairs int, span int64) int {
	p := min(int64(pairs), span/2)
	if p <= 0 {
		return textLen(headBytes)
	}
	s, r := float64(span), float64(2*p)
	size := int64(math.Ceil(min(s, r*(2+math.Log2(s/r)))))
	return textLen(headBytes + sectionLen(mapLen(p, size)))
}

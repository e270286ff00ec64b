package offset

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// maxK is the largest Rice parameter: what is shifted by it still fits into an int64.
const maxK = 62

// holes is a map that is ready to be written: the runs of offsets from the frontier on, unfinished and finished in turn.
type holes struct {
	runs []int64 // of even length
	k    [2]int  // Rice parameters of unfinished and of finished runs
	bits int64   // of all runs
}

// newHoles chooses the parameters. It returns false for ranges that are no map: none, or not in order beyond the frontier.
func newHoles(next int64, finished Ranges) (h holes, ok bool) {
	h.runs = make([]int64, 0, 2*len(finished))
	for _, x := range finished {
		if x.From <= next || x.To <= x.From {
			return holes{}, false
		}
		h.runs = append(h.runs, x.From-next, x.To-x.From)
		next = x.To
	}
	for kind := range h.k {
		k, size := cheapest(h.runs, kind)
		h.k[kind], h.bits = k, h.bits+size
	}
	return h, len(finished) > 0
}

// cheapest returns the parameter with which the runs of a kind (0 for unfinished, 1 for finished) take the fewest bits. It tries all up
// to one more than the logarithm of the mean: those that the bound rests on (see Tracker.Bound) are among them.
func cheapest(runs []int64, kind int) (k int, size int64) {
	size = math.MaxInt64
	for try := range min(logOfMean(runs, kind)+1, maxK) + 1 {
		if c := riceBits(runs, kind, try); c < size {
			k, size = try, c
		}
	}
	return k, size
}

// logOfMean returns the binary logarithm of the mean length of a kind, rounded down.
func logOfMean(runs []int64, kind int) int {
	sum := int64(0)
	for i := kind; i < len(runs); i += 2 {
		sum += runs[i]
	}
	pairs := int64(max(1, len(runs)/2))
	return max(0, bits.Len64(uint64(sum/pairs))-1) //nolint:gosec // a sum of lengths is not negative
}

func riceBits(runs []int64, kind, k int) (size int64) {
	for i := kind; i < len(runs); i += 2 {
		size += (runs[i]-1)>>k + 1 + int64(k)
	}
	return size
}

// len returns the length of the section's content.
func (h *holes) len() int { return mapLen(int64(len(h.runs)/2), h.bits) }

// mapLen is the length of a hole map with so many pairs of runs, which take so many bits.
func mapLen(pairs, size int64) int { return 2 + uvarintLen(pairs) + int((size+7)/8) }

func (h *holes) append(dst []byte) []byte {
	dst = append(dst, byte(h.k[0]), byte(h.k[1])) //nolint:gosec // at most maxK
	dst = appendUvarint(dst, int64(len(h.runs)/2))
	w := bitWriter{out: dst}
	for i, run := range h.runs {
		w.rice(uint64(run-1), h.k[i&1]) //nolint:gosec // at least 1 long
	}
	return w.bytes()
}

// parseHoles reads a map. It makes at most one range for each two bits of the content, and none that goes beyond int64.
func parseHoles(content []byte, next int64) (Ranges, bool) {
	if len(content) < 2 || content[0] > maxK || content[1] > maxK {
		return nil, false
	}
	pairs, n := binary.Uvarint(content[2:])
	if n <= 0 || pairs > uint64(4*len(content)) {
		return nil, false
	}
	r := runReader{bits: bitReader{in: content[2+n:]}, at: next}
	finished := make(Ranges, 0, pairs)
	for range pairs {
		from := r.run(int(content[0]))
		finished = append(finished, Range{from, r.run(int(content[1]))})
	}
	return finished, !r.bits.short && !r.over
}

// runReader adds up runs.
type runReader struct {
	bits bitReader
	at   int64
	over bool // the runs end beyond int64
}

// run reads one run and returns where it ends.
func (r *runReader) run(k int) int64 {
	zeros := r.bits.zeros()
	length := zeros<<k | r.bits.take(k)
	r.over = r.over || zeros > math.MaxInt64>>k || length >= uint64(math.MaxInt64-r.at) //nolint:gosec // at is not negative
	if !r.over {
		r.at += int64(length) + 1 //nolint:gosec // checked
	}
	return r.at
}

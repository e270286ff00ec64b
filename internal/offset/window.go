package offset

import (
	"math/bits"
	"sort"
)

// smallest is the least size of a window's rings, a power of two and at least one word of bits.
const smallest = 64

// window holds delivered offsets, which rise, and which of them are finished. It numbers them: n is the n-th that was ever pushed, so
// that gaps between offsets take no room. The first one is unfinished whenever trim has been called.
type window struct {
	offsets   []int64  // a ring: number n is at n & mask
	finished  []uint64 // a ring of bits
	base, end int64    // numbers of the first one held and of the next one to come
	peak      int64    // the most that were held since the ring began anew
}

func (w *window) len() int64              { return w.end - w.base }
func (w *window) size() int64             { return int64(len(w.offsets)) }
func (w *window) mask() int64             { return int64(len(w.offsets)) - 1 }
func (w *window) offset(n int64) int64    { return w.offsets[n&w.mask()] }
func (w *window) isFinished(n int64) bool { i := n & w.mask(); return w.finished[i>>6]>>(i&63)&1 == 1 }

// push appends an offset, which is greater than all before.
func (w *window) push(offset int64, finished bool) {
	switch {
	case w.len() == w.size():
		w.resize(max(smallest, 2*w.size()))
	case w.end&w.mask() == 0:
		w.lap()
	}
	w.put(offset, finished)
	w.peak = max(w.peak, w.len())
}

func (w *window) put(offset int64, finished bool) {
	i := w.end & w.mask()
	w.offsets[i] = offset
	w.finished[i>>6] &^= 1 << (i & 63)
	if finished {
		w.finished[i>>6] |= 1 << (i & 63)
	}
	w.end++
}

// lap makes the rings smaller when they were almost empty for a whole turn. A window that drains and fills again within a turn keeps
// its rings: else it would allocate for ever.
func (w *window) lap() {
	if w.size() > smallest && w.peak <= w.size()/8 {
		w.resize(max(smallest, w.size()/4))
	}
	w.peak = w.len()
}

func (w *window) resize(size int64) {
	old := *w
	w.offsets, w.finished = make([]int64, size), make([]uint64, size/64)
	w.end = w.base
	for n := old.base; n < old.end; n++ {
		w.put(old.offset(n), old.isFinished(n))
	}
}

// find returns the number of an offset. Without gaps the offset itself tells it; each gap before it moves it down.
func (w *window) find(offset int64) (n int64, ok bool) {
	if w.len() == 0 || offset < w.offset(w.base) || offset > w.offset(w.end-1) {
		return 0, false
	}
	highest := min(w.base+offset-w.offset(w.base), w.end-1)
	if w.offset(highest) == offset {
		return highest, true
	}
	n = w.base + int64(sort.Search(int(highest-w.base), func(i int) bool { return w.offset(w.base+int64(i)) >= offset }))
	return n, w.offset(n) == offset
}

// from returns the number of the first offset that is not below the given one, end if there is none.
func (w *window) from(offset int64) int64 {
	return w.base + int64(sort.Search(int(w.len()), func(i int) bool { return w.offset(w.base+int64(i)) >= offset }))
}

func (w *window) finish(n int64) {
	i := n & w.mask()
	w.finished[i>>6] |= 1 << (i & 63)
}

// cut drops the numbers from n on, and returns how many of them are unfinished.
func (w *window) cut(n int64) (unfinished int) {
	for i := n; i < w.end; i++ {
		if !w.isFinished(i) {
			unfinished++
		}
	}
	w.end = n
	return unfinished
}

// trim drops the finished ones at the front.
func (w *window) trim() { w.base = w.next(w.base, false) }

// next returns the first number from n on that is finished, or is not: end if there is none. It looks at 64 at a time.
func (w *window) next(n int64, finished bool) int64 {
	for n < w.end {
		i := n & w.mask()
		left := 64 - i&63
		word := w.finished[i>>6]
		if !finished {
			word = ^word
		}
		if k := int64(bits.TrailingZeros64(word >> (i & 63))); k < left {
			return min(n+k, w.end)
		}
		n += left
	}
	return w.end
}

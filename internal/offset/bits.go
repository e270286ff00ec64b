package offset

import "math/bits"

// bitWriter appends bits to bytes, the lowest bit of a byte first.
type bitWriter struct {
	out   []byte
	held  uint64
	width int // how many bits are held, fewer than 8 between calls
}

// put appends the width lowest bits of v, which has no others.
func (w *bitWriter) put(v uint64, width int) {
	for ; width > 32; width -= 32 {
		w.put(v&(1<<32-1), 32)
		v >>= 32
	}
	w.held |= v << w.width
	for w.width += width; w.width >= 8; w.width -= 8 {
		w.out = append(w.out, byte(w.held&0xff))
		w.held >>= 8
	}
}

// rice appends v: v>>k zeros, a one, and its k lowest bits.
func (w *bitWriter) rice(v uint64, k int) {
	zeros := v >> k
	for ; zeros > 31; zeros -= 31 {
		w.put(0, 31)
	}
	w.put(1<<zeros, int(zeros)+1)
	w.put(v&(1<<k-1), k)
}

// bytes fills the last byte up and returns all.
func (w *bitWriter) bytes() []byte {
	if w.width > 0 {
		w.put(0, 8-w.width)
	}
	return w.out
}

// bitReader reads what a bitWriter wrote. Reading past the end makes it short, and gives zeros.
type bitReader struct {
	in    []byte
	held  uint64
	width int
	short bool
}

// fill holds more than 32 bits if there are that many.
func (r *bitReader) fill() {
	for r.width <= 56 && len(r.in) > 0 {
		r.held |= uint64(r.in[0]) << r.width
		r.in = r.in[1:]
		r.width += 8
	}
}

func (r *bitReader) skip(width int) {
	r.held >>= width
	r.width -= width
}

// take reads a number of width bits.
func (r *bitReader) take(width int) uint64 {
	if width > 32 {
		low := r.take(32)
		return low | r.take(width-32)<<32
	}
	r.fill()
	if r.width < width {
		r.short, r.width, r.held = true, 0, 0
		return 0
	}
	v := r.held & (1<<width - 1)
	r.skip(width)
	return v
}

// zeros reads up to the next one and returns how many zeros came before it.
func (r *bitReader) zeros() (n uint64) {
	for r.fill(); r.held == 0; r.fill() {
		if r.width == 0 {
			r.short = true
			return 0
		}
		n += uint64(r.width) //nolint:gosec // at most 64
		r.width = 0
	}
	z := bits.TrailingZeros64(r.held)
	r.skip(z + 1)
	return n + uint64(z) //nolint:gosec // at most 63
}

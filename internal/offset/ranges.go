package offset

import (
	"cmp"
	"slices"
)

// Range is a run of offsets: From is in it, To is not.
type Range struct{ From, To int64 }

// Ranges are runs of finished offsets. Those that this package returns are sorted, not empty, and do not touch each other.
type Ranges []Range

// beyond returns a copy of what lies at an offset or beyond it, in order, and joined where ranges overlap or touch.
func (r Ranges) beyond(from int64) Ranges {
	var joined Ranges
	sorted := slices.SortedFunc(slices.Values(r), func(a, b Range) int { return cmp.Compare(a.From, b.From) })
	for _, x := range sorted {
		joined = joined.join(Range{max(x.From, from), x.To})
	}
	return joined
}

// join appends a range, or lengthens the last one by it. It does not end before the last one starts.
func (r Ranges) join(x Range) Ranges {
	if x.From >= x.To {
		return r
	}
	if n := len(r); n > 0 && x.From <= r[n-1].To {
		r[n-1].To = max(r[n-1].To, x.To)
		return r
	}
	return append(r, x)
}

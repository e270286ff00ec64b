package ledger

import (
	"cmp"
	"slices"
	"time"
)

// Runs are runs in any order.
type Runs []Run

type position struct {
	partition int32
	offset    int64
}

func (r Runs) byMessage() map[position]Runs {
	all := map[position]Runs{}
	for _, one := range r {
		at := position{one.Partition, one.Offset}
		all[at] = append(all[at], one)
	}
	return all
}

func (r Runs) byPartition() map[int32]Runs {
	all := map[int32]Runs{}
	for _, one := range r {
		all[one.Partition] = append(all[one.Partition], one)
	}
	for _, list := range all {
		slices.SortFunc(list, func(a, b Run) int { return a.Start.Compare(b.Start) })
	}
	return all
}

// Since are the runs of messages that had one at that time or later. What was over before is left out.
func (r Runs) Since(at time.Time) (list Runs) {
	for _, runs := range r.byMessage() {
		if slices.ContainsFunc(runs, func(one Run) bool { return !one.End.Before(at) }) {
			list = append(list, runs...)
		}
	}
	return list
}

// Repeats counts starts of a message beyond its first.
func (r Runs) Repeats() (n int) {
	for _, list := range r.byMessage() {
		n += len(list) - 1
	}
	return n
}

// Wasted is the time of runs that were for nothing: of each message all but one that was done, or but the last one where that still
// runs.
func (r Runs) Wasted() (sum time.Duration) {
	for i, useless := range r.Useless() {
		if useless {
			sum += r[i].Took()
		}
	}
	return sum
}

// Useless says of each run whether it was for nothing, see [Runs.Wasted].
func (r Runs) Useless() []bool {
	useless := make([]bool, len(r))
	for _, list := range r.indexes() {
		runs := make(Runs, len(list))
		for i, at := range list {
			runs[i] = r[at]
		}
		useful := runs.useful()
		for i, at := range list {
			useless[at] = i != useful
		}
	}
	return useless
}

func (r Runs) indexes() map[position][]int {
	all := map[position][]int{}
	for i, one := range r {
		at := position{one.Partition, one.Offset}
		all[at] = append(all[at], i)
	}
	return all
}

// useful is the index of the run of a message that counts, or -1.
func (r Runs) useful() int {
	first := slices.IndexFunc(r, func(one Run) bool { return one.How == Done })
	if last := len(r) - 1; first < 0 && r[last].How == Running {
		return last
	}
	return first
}

// gap is a time without a run on a partition, and who had the runs before and after it.
type gap struct {
	from, to      time.Time
	before, after int
	open          bool // nothing came after it
}

// gaps are those of each partition, between its first run and the end.
func (r Runs) gaps(end time.Time) (list []gap) {
	for _, runs := range r.byPartition() {
		last, owner := runs[0].End, runs[0].Member
		for _, one := range runs[1:] {
			if one.Start.After(last) {
				list = append(list, gap{from: last, to: one.Start, before: owner, after: one.Member})
			}
			if one.End.After(last) {
				last, owner = one.End, one.Member
			}
		}
		if end.After(last) {
			list = append(list, gap{from: last, to: end, before: owner, open: true})
		}
	}
	return list
}

// within is how much of a gap lies in a span of time.
func (g gap) within(from, to time.Time) time.Duration {
	return max(0, earlier(g.to, to).Sub(later(g.from, from)))
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Idle is the sum of the times, over all partitions, in which a partition had no run.
func (r Runs) Idle(from, to time.Time) (sum time.Duration) {
	for _, g := range r.gaps(to) {
		sum += g.within(from, to)
	}
	return sum
}

// Stall is the longest time for which a partition had no run. With kept only what lies between two runs of one member counts.
func (r Runs) Stall(from, to time.Time, kept bool) (most time.Duration) {
	for _, g := range r.gaps(to) {
		if !kept || !g.open && g.before == g.after {
			most = max(most, g.within(from, to))
		}
	}
	return most
}

// First is when the member's first run began.
func (r Runs) First(member int) (at time.Time, ok bool) {
	for _, one := range r {
		if one.Member == member && (!ok || one.Start.Before(at)) {
			at, ok = one.Start, true
		}
	}
	return at, ok
}

// Takeover is how long it takes, from the moment on, until others have begun on the last of the partitions that the member works on
// then. It is not all where some partition has nobody by the end. A member that has no partition gives nothing to take over: 0, and all.
func (r Runs) Takeover(member int, at, end time.Time) (took time.Duration, all bool) {
	all = true
	for _, runs := range r.byPartition() {
		before := slices.DeleteFunc(slices.Clone(runs), func(one Run) bool { return one.Start.After(at) })
		if len(before) == 0 || before[len(before)-1].Member != member {
			continue
		}
		next := slices.IndexFunc(runs, func(one Run) bool { return one.Start.After(at) && one.Member != member })
		if next < 0 {
			took, all = end.Sub(at), false
			continue
		}
		took = max(took, runs[next].Start.Sub(at))
	}
	return took, all
}

// Partitions are how many have had a run.
func (r Runs) Partitions() int { return len(r.byPartition()) }

// LastBegun is the latest of the partitions' first starts.
func (r Runs) LastBegun() (at time.Time) {
	for _, runs := range r.byPartition() {
		at = later(at, runs[0].Start)
	}
	return at
}

// Members are those that have had a run, in their order.
func (r Runs) Members() (list []int) {
	for _, one := range r {
		list = append(list, one.Member)
	}
	slices.SortFunc(list, cmp.Compare[int])
	return slices.Compact(list)
}

package main

import (
	"fmt"
	"slices"
	"time"
)

// row is a measurement. Its name is a prefix of its figures' names.
type row struct {
	name    string
	what    string // from when to when, and what is aimed at
	measure func(l *lab) ([]figure, error)
}

var rows = []row{
	{"commit_p50", "from a handler's return to the broker's answer to its commit, median; baseline: a bare OffsetCommit round trip on a " +
		"connection that does nothing else, at the same time; aim: at most 2 times", commitLatency},
	{"newcomer_eager", "from Run of a second member to its first message while the first one is inside tasks of 60 s, and of 6 h, median of 3; " +
		"baseline: the same with a blocking sarama handler; aim: at most a heartbeat interval (3 s) + 500 ms", newcomerEager},
	{
		"newcomer_cooperative", "the same under the cooperative protocol, which takes two rounds; aim: at most two heartbeat intervals + 500 ms",
		newcomerCooperative,
	},
	{"noop_partition", "no-op messages a second, order by partition, with 1, 4 and 16 partitions on the in-process broker's synthetic topic, " +
		"median of 8 rounds in turns; baseline: a sarama handler that marks each message; ratio: the median of the rounds' ratios; " +
		"aim: at least 0.9, and at most 0.1 allocations a message more", noopPartition},
	{"hang_neighbours", "a task hangs in the middle of short ones: the longest time from its neighbour's return to that one's commit (baseline: " +
		"the same where nothing hangs), and the longest time from the revocation to the return of ConsumeClaim, without grace; aim: 50 ms more, and 50 ms", hangNeighbours},
	{"stop_idle", "from the end of Run's context to its return with no task running; baseline: sarama's own group, cancel, Consume, Close; aim: under 1 s", stopIdle},
	{"stop_stubborn", "the same with tasks that ignore their context and a grace of 2 s; baseline: the grace; aim: 2 s more at most", stopStubborn},
	{"stop_unreachable", "the same 2 s after everything between the member and the brokers went silent, no grace; baseline: sarama's own group with its defaults; aim: at most 6 s", stopUnreachable},
	{"lease", "from cutting a member off to the cancellation of its tasks (plan for tasks of 1 min); baseline: the end of the session of sarama's own group " +
		"with its defaults, cut off at the same time; lease_bound compares with the documented bound; aim: at most that", leaseEnd},
}

// figure is one line.
type figure struct {
	name          string
	value         float64
	unit          string
	baseline      string
	baselineValue float64
	ratio         float64 // 0: value / baselineValue
}

// String is the line that a program reads.
func (f figure) String() string {
	if f.ratio == 0 && f.baselineValue != 0 {
		f.ratio = f.value / f.baselineValue
	}
	return fmt.Sprintf("%s %.4g %s %s %.4g %.3f", f.name, f.value, f.unit, f.baseline, f.baselineValue, f.ratio)
}

func inMillis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// median of a list that is not empty.
func median[T float64 | time.Duration](list []T) T {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

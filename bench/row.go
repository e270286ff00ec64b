package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-go/evenkeel/bench/record"
)

// row is a measurement. Its name is a prefix of its figures' names.
type row struct {
	name    string
	what    string // from when to when, and what is aimed at
	measure func(l *lab) ([]figure, error)
	peers   bool // with all peers, side by side
}

// rows are all, in the order in which they are measured.
func rows() []row { return slices.Concat(ownRows, peerRows) }

var ownRows = []row{
	{name: "commit_p50", what: "from a handler's return to the broker's answer to its commit, median; baseline: a bare OffsetCommit round trip on a " +
		"connection that does nothing else, at the same time; aim: at most 2 times", measure: commitLatency},
	{name: "newcomer_eager", what: "from Run of a second member to its first message while the first one is inside tasks of 60 s, and of 6 h, median of 3; " +
		"baseline: the same with a blocking sarama handler; running tasks keep nothing from moving here (config.NoHold); aim: at most a heartbeat interval (3 s) + 500 ms", measure: newcomerEager},
	{
		name: "newcomer_cooperative", what: "the same under the cooperative protocol, which takes two rounds; aim: at most two heartbeat intervals + 500 ms",
		measure: newcomerCooperative,
	},
	{
		name: "newcomer_idle_share", what: "from Run of a second member to the start of the last of its claims, eight partitions of which four have tasks of 60 s in the first one: " +
			"the four others are its share; newcomer_idle_share_eager and _cooperative, median of 3; baseline: the same where nothing runs; aim: a heartbeat " +
			"interval (3 s) + 500 ms under the eager protocol, two + 500 ms under the cooperative one", measure: idleShare,
	},
	{name: "noop_partition", what: "no-op messages a second, order by partition, with 1, 4 and 16 partitions on the in-process broker's synthetic topic, " +
		"median of 8 rounds in turns; baseline: a sarama handler that marks each message; ratio: the median of the rounds' ratios; " +
		"aim: at least 0.9, and at most 0.1 allocations a message more", measure: noopPartition},
	{name: "hang_neighbours", what: "a task hangs in the middle of short ones: the longest time from its neighbour's return to that one's commit (baseline: " +
		"the same where nothing hangs), and the longest time from the revocation to the return of ConsumeClaim, without grace; aim: 50 ms more, and 50 ms", measure: hangNeighbours},
	{name: "stop_idle", what: "from the end of Run's context to its return with no task running; baseline: sarama's own group, cancel, Consume, Close; aim: under 1 s", measure: stopIdle},
	{name: "stop_stubborn", what: "the same with tasks that ignore their context and a grace of 2 s; baseline: the grace; aim: 2 s more at most", measure: stopStubborn},
	{name: "stop_unreachable", what: "the same 2 s after everything between the member and the brokers went silent, no grace; baseline: sarama's own group with its defaults; aim: at most 6 s", measure: stopUnreachable},
	{name: "lease", what: "from cutting a member off to the cancellation of its tasks (plan for tasks of 1 min); baseline: the end of the session of sarama's own group " +
		"with its defaults, cut off at the same time; lease_bound compares with the documented bound; aim: at most that", measure: leaseEnd},
	{name: "key_20ms", what: "how busy the slots are: 10,000 tasks of 20 ms, 10 partitions, 1,000 keys, 100 slots, by key, on a topic that was filled before, " + inTurns +
		"; key_20ms_ideal: ideal time / time; key_20ms_wall: the time, baseline: " + ceiling + "; aim: at least 0.99, and not behind", measure: key20ms},
	{name: "none_20ms", what: "the same without order; aim: at least 0.99", measure: none20ms},
	{name: "partition_20ms", what: "the same by partition: ideal time (the fullest partition's messages, one after another) / time, median of 3 rounds; the baseline is cut " +
		"after a second more than the ideal time, and its share is that of what it has done by then; partition_20ms_wall: the time, baseline: one bare " +
		"goroutine with the sleeps of the fullest partition; aim: at least 0.95", measure: partition20ms},
	{name: "key_1ms", what: "as key_20ms with 100,000 tasks of 1 ms; aim: at least 0.99, and a time of at most 1.1 ceilings", measure: key1ms},
	{name: "key_1ms_deep", what: "the same out of 3,000,000 messages: it ends with the 100,000th task, median of 3 rounds; aim: at least 0.97", measure: key1msDeep},
	{name: "key_100ms", what: "as key_20ms_ideal with 10,000 tasks of 100 ms, 10,000 keys and 1,000 slots; aim: at least 0.97", measure: key100ms},
	{name: "key_noop", what: "no-op messages a second by key, 10,000 keys, 10 partitions, 100 slots, 200,000 and 1,000,000 messages, from the first start to the last end; " +
		"baseline: the Parallel Consumer, median of 3 rounds in turns; aim: a ratio of at least 15", measure: keyNoop},
	{name: "key_noop_raw", what: "the same with 5,000,000 messages, median of 6 rounds; baseline: a sarama handler that marks each message, under the same settings; " +
		"aim: a ratio of at least 0.5", measure: keyNoopRaw},
	{name: "trickle", what: "from sarama's hand-over of a message to the start of its task, the slowest of 100, by partition, by key and without order: one partition gets a message " +
		"every 10 ms, whose task returns at once, nine have an endless backlog of tasks of 20 ms, 4 slots, 10 s each; baseline: two rotations (nine tasks, four at a time); " +
		"trickle_*_sent: since the message was sent, baseline: the same of a partition alone; aim: at most the baseline", measure: trickle},
	{name: "heap_1mb", what: "live heap after garbage collection: 12 partitions with 200 messages of 1 MB, tasks of 30 s by partition, for 66 s (two tasks each), baseline: " +
		"the most of sarama's blocking loop with its defaults in 12 s; heap_1mb_mixed: tasks of 1 to 9 s without order, 24 slots, for 15 s; growth: median of " +
		"the last third of the time / of the second; aim: at most the documented bound, and flat", measure: heap1mb},
	{name: "heap_small", what: "the same with 1,000,000 short messages by key, 100 slots, tasks of 30 s, for 66 s", measure: heapSmall},
	{name: "offset_cost", what: "offset_cost_end: a message delivered and finished with up to 100,000 of its partition pending, which finish in any order; baseline: up to 100 pending; " +
		"offset_cost_commit: the map of 1,000 finished messages after 500,000 were committed; baseline: after 100; aim: ratios of at most 4 and 1.5", measure: offsetCost},
	{name: "engine_cost", what: "engine_cost_end: processor time of a message in the whole engine, on a partition in memory, without order, with up to 64,000 that have " +
		"ended behind one that has not; baseline: up to 1,000; engine_cost_commit: of one that is committed by itself, after 1,000,000 were committed; " +
		"baseline: after 1,000; aim: ratios of at most 2 and 1.5", measure: engineCost},
	{name: "plan_1000x10000", what: "one plan of a group with 1,000 members and 10,000 partitions, with the reading of what they report and the writing of " +
		"what they are told: 500 have tasks on all partitions when 500 others come, median of 20; plan_1000x10000_idle: without a task; " +
		"aim: at most 50 ms", measure: planning},
	{name: "churn_repeats", what: "250,000 messages on 80 partitions, tasks of 20 ms by key, a member joins or leaves in order each 2 s: starts of a message " +
		"beyond its first; baseline: what a fork of the Parallel Consumer published for the cooperative protocol; aim: 0", measure: churn},
}

const (
	inTurns = "median of 5 rounds in turns; baseline: the same of Confluent's Parallel Consumer 0.5.3.3"
	ceiling = "the same sleeps in 100 bare goroutines"
)

// figure is one line.
type figure struct {
	name          string
	value         float64
	unit          string
	baseline      string
	baselineValue float64
	ratio         float64 // 0: value / baselineValue

	own, base            []float64 // what the values are medians of, where there are several
	peer                 string    // whom the baseline is of, in a row with all peers
	waiting, baseWaiting bool      // it had not happened when a round ended
	more                 bool      // more is better
}

// String is the line that a program reads.
func (f figure) String() string {
	return fmt.Sprintf("%s %.4g %s %s %.4g %.3f", f.name, f.value, f.unit, f.baseline, f.baselineValue, f.compared())
}

// compared is the ratio.
func (f figure) compared() float64 {
	if f.ratio == 0 && f.baselineValue != 0 {
		return f.value / f.baselineValue
	}
	return f.ratio
}

// versus fills in the medians of rounds that were measured in turns. The ratio is the median of the rounds' ratios, which shares less of
// what a noisy machine does from one minute to the next; the one of all medians where there are not as many rounds of the baseline.
func versus(f figure, own, base []float64) figure {
	f.value, f.own, f.base = median(own), own, base
	if len(base) == 0 {
		f.baseline = "none"
		return f
	}
	f.baselineValue = median(base)
	if len(own) != len(base) {
		return f
	}
	ratios := make([]float64, len(own))
	for i := range own {
		ratios[i] = own[i] / base[i]
	}
	f.ratio = median(ratios)
	return f
}

func inMillis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// median of a list that is not empty: of an even number of values, the mean of the two in the middle.
func median[T float64 | time.Duration](list []T) T {
	sorted := slices.Sorted(slices.Values(list))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// recorded is the figure as the report reads it.
func (f figure) recorded(row string) *record.Figure {
	r := &record.Figure{
		Row: row, Name: f.name, Value: f.value, Unit: f.unit, Samples: f.own, Waiting: f.waiting, Ratio: f.compared(), More: f.more || moreIsBetter(f.unit),
		Missed: f.missed(),
	}
	if f.baseline != "none" {
		r.Peer, r.PeerValue, r.PeerSamples, r.PeerWaiting = cmp.Or(f.peer, f.baseline), f.baselineValue, f.base, f.baseWaiting
	}
	return r
}

// recorded is the row as the report reads it.
func (r row) recorded() *record.Row { return &record.Row{Name: r.name, What: r.what, Peers: r.peers} }

// moreIsBetter says so of the units in which more is done.
func moreIsBetter(unit string) bool {
	return slices.Contains([]string{"messages/s", "of_slots", "of_ideal"}, unit)
}

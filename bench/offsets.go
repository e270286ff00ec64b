package main

import (
	"math/rand/v2"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/offset"
)

const (
	offsetRounds = 9
	offsetEnds   = 500_000
	fewPending   = 100
	manyPending  = 100_000
)

// offsetCost compares what an end and a commit take where much is pending or was committed before with what they take where little is.
func offsetCost(l *lab) ([]figure, error) {
	var few, many, young, old []float64
	for range l.roundsOr(offsetRounds) {
		few, many = append(few, perEnd(fewPending)), append(many, perEnd(manyPending))
		young, old = append(young, perCommit(fewPending)), append(old, perCommit(offsetEnds))
	}
	return []figure{
		versus(figure{name: "offset_cost_end", unit: "ns", baseline: "of_100_pending"}, many, few),
		versus(figure{name: "offset_cost_commit", unit: "ns", baseline: "after_100_committed"}, old, young),
	}, nil
}

// perEnd returns the nanoseconds of a message that is delivered and finished, in windows that finish in a random order. Each tenth
// offset is missing, as that of a transaction's marker is: the tracker has to search.
func perEnd(pending int) float64 {
	order := rand.New(rand.NewPCG(1, 2)).Perm(pending)
	at := func(i int) int64 { return int64(i + i/9) }
	t := offset.New(0, nil)
	begin := time.Now()
	for done := 0; done < offsetEnds; done += pending {
		for i := range pending {
			t.Deliver(at(done + i))
		}
		for _, i := range order {
			t.Finish(at(done + i))
		}
	}
	return perOne(begin, offsetEnds)
}

// perCommit returns the nanoseconds of a commit with 1,000 messages finished behind one that is not, after others were committed.
func perCommit(committed int64) float64 {
	const commits, behind = 100, 2_000
	t := offset.New(0, nil)
	for o := range committed {
		t.Deliver(o)
		t.Finish(o)
	}
	for o := committed; o < committed+behind; o++ {
		t.Deliver(o)
		if (o-committed)%2 == 1 {
			t.Finish(o)
		}
	}
	var ranges offset.Ranges
	begin := time.Now()
	for range commits {
		ranges = t.RangesInto(ranges)
		_ = offset.State{Next: t.Next(), Finished: ranges}.Encode(offset.MaxText)
	}
	return perOne(begin, commits)
}

func perOne(begin time.Time, n int) float64 { return float64(time.Since(begin)) / float64(n) }

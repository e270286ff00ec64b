package main

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
)

const (
	hangRounds   = 10
	hangMessages = 600
	hangAt       = 500
)

// hangNeighbours runs short tasks of which one hangs in the middle of its run, and takes two times: from the return of the task
// before it to the answer to that one's commit, and from the revocation to the end of the claim.
func hangNeighbours(l *lab) ([]figure, error) {
	var hung, calm, left []time.Duration
	for range hangRounds {
		h, waited, err := hangOnce(l, true)
		if err != nil {
			return nil, err
		}
		c, _, err := hangOnce(l, false)
		if err != nil {
			return nil, err
		}
		hung, calm, left = append(hung, h), append(calm, c), append(left, waited)
	}
	return []figure{
		{name: "hang_neighbours_commit_max", value: inMillis(slices.Max(hung)), unit: "ms", baseline: "nothing_hangs_max", baselineValue: inMillis(slices.Max(calm))},
		{name: "hang_neighbours_return_max", value: inMillis(slices.Max(left)), unit: "ms", baseline: "aim", baselineValue: 50},
	}, nil
}

// claimEnds hears how long claims took to end.
type claimEnds chan time.Duration

// OnClaimEnd implements handler.ClaimEndHook.
func (c claimEnds) OnClaimEnd(e handler.ClaimEnd) { c <- e.Waited }

// hangOnce lets task number hangAt hang, or the topic end there.
func hangOnce(l *lab, hangs bool) (commit, waited time.Duration, err error) {
	n := hangMessages
	if !hangs {
		n = hangAt
	}
	topic, b, err := l.topic("hang", 1, n)
	if err != nil {
		return 0, 0, err
	}
	end := make(chan struct{})
	defer close(end)
	w := newCommitWatch(hangAt)
	var returned atomic.Int64
	ends := make(claimEnds, 1)
	in := config.Input{Expected: 100 * time.Millisecond, Grace: config.NoGrace, StopGrace: config.NoGrace} // commits at once
	m, err := l.start(b, topic, in, func(_ context.Context, t *handler.Task) error {
		if t.Offset == hangAt {
			<-end
		}
		if t.Offset == hangAt-1 {
			returned.Store(time.Now().UnixNano())
		}
		return nil
	}, w, ends)
	if err != nil {
		return 0, 0, err
	}
	at, err := receive(l, w.all)
	m.stop()
	if err != nil {
		return 0, 0, err
	}
	waited, err = receive(l, ends)
	return at.Sub(time.Unix(0, returned.Load())), waited, err
}

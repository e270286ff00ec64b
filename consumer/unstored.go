package consumer

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/commit"
)

// unstored is what has finished without a commit that is known to be stored. The zero value is ready; safe for concurrent use.
type unstored struct {
	mu     sync.Mutex
	atStop map[handler.Claim]int64 // offset that was to be committed
	told   repeats                 // in rebalances
}

// noteUnstored hears each last word about a commit that is not stored. At a stop it is told of all partitions at once, in a rebalance
// when the partition is given up. A claim of the partition that the member holds by then takes it over.
func (m *membership) noteUnstored(r commit.Result) {
	switch {
	case !r.Finished || r.Kept:
	case over(m.run) || m.watched.is(StateStopping):
		m.unstored.add(r)
	case r.Verdict == commit.Dropped: // the others are told in any case
		m.tellDropped(r)
	}
}

func (m *membership) tellDropped(r commit.Result) {
	m.unstored.mu.Lock()
	kept, due := m.unstored.told.due(r.Topic)
	m.unstored.mu.Unlock()
	if !due {
		return
	}
	attrs := []slog.Attr{
		slog.String("topic", r.Topic), slog.Int("partition", int(r.Partition)), slog.Int64("offset", r.Offset.Offset), slog.Any("error", r.Err),
	}
	m.log.LogAttrs(context.Background(), slog.LevelWarn,
		"a partition was given up with finished tasks whose commit is not stored: the next owner runs them again", withRepeated(attrs, kept)...)
}

func (u *unstored) add(r commit.Result) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.atStop == nil {
		u.atStop = map[handler.Claim]int64{}
	}
	c := handler.Claim{Topic: r.Topic, Partition: r.Partition}
	u.atStop[c] = max(u.atStop[c], r.Offset.Offset)
}

// done hears of a commit that is stored.
func (u *unstored) done(r commit.Result) {
	u.mu.Lock()
	defer u.mu.Unlock()
	c := handler.Claim{Topic: r.Topic, Partition: r.Partition}
	if offset, ok := u.atStop[c]; ok && offset <= r.Offset.Offset {
		delete(u.atStop, c)
	}
}

// list names what is left, as topic/partition@offset.
func (u *unstored) list() (commits []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, c := range slices.SortedFunc(maps.Keys(u.atStop), func(a, b handler.Claim) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	}) {
		commits = append(commits, fmt.Sprintf("%s/%d@%d", c.Topic, c.Partition, u.atStop[c]))
	}
	return commits
}

// stopped is the last entry of a Run. Where it returns an error that says the rest.
func (m *membership) stopped(fatal error) {
	if left := m.unstored.list(); len(left) > 0 {
		m.log.Warn("stopped with finished tasks whose commits are not stored; the next owner runs them again", slog.Any("commits", left))
	}
	if fatal == nil {
		m.log.Info("stopped")
	}
}

package lease_test

import (
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/lease"
)

var (
	begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	terms = lease.Terms{Session: 60 * time.Second, Rebalance: 30 * time.Second, Margin: 5 * time.Second}
)

func at(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }

func TestLeaseEndsBeforeTheBrokerCanAct(t *testing.T) {
	for name, c := range map[string]struct {
		terms lease.Terms
		news  func(l *lease.Lease)
		want  time.Time
	}{
		"nothing heard since the assignment":               {terms, func(*lease.Lease) {}, at(25)},
		"a good heartbeat counts from when it was sent":    {terms, func(l *lease.Lease) { l.Good(at(10)) }, at(35)},
		"an old answer that comes late takes nothing back": {terms, func(l *lease.Lease) { l.Good(at(10)); l.Good(at(4)) }, at(35)},
		"a rebalance renews the session only":              {terms, func(l *lease.Lease) { l.Good(at(10)); l.Rebalancing(at(20), false); l.Rebalancing(at(30), false) }, at(35)},
		"the session clock ends first where it is the shorter": {
			lease.Terms{Session: 20 * time.Second, Rebalance: time.Minute, Margin: 5 * time.Second},
			func(l *lease.Lease) { l.Good(at(1)) }, at(16),
		},
		"with our join pending an open round is good news": {terms, func(l *lease.Lease) { l.Rebalancing(at(20), true) }, at(45)},
		"a join that is not pending any more is no news":   {terms, func(l *lease.Lease) { l.Rebalancing(at(20), true); l.Rebalancing(at(40), false) }, at(45)},
	} {
		t.Run(name, func(t *testing.T) {
			l := lease.New(c.terms, begin)
			c.news(l)
			if got := l.End(); !got.Equal(c.want) {
				t.Errorf("ends %v after the start, want %v", got.Sub(begin), c.want.Sub(begin))
			}
		})
	}
}

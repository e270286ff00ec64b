package nemesis

import (
	"context"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/fleet"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest/netproxy"
)

// onLink breaks a member's link for a while.
func onLink(ctx context.Context, w *World, s Step, breaks func(*kafkatest.Link)) error {
	return w.onSlot(s, func(slot *fleet.Slot) error {
		breaks(slot.Link)
		sleep(ctx, s.Lasts)
		return slot.Link.Restore()
	})
}

func cut(ctx context.Context, w *World, s Step) error {
	return onLink(ctx, w, s, (*kafkatest.Link).Cut)
}

// oneWay is the direction that the lot falls on.
func (s Step) oneWay() netproxy.Match {
	return netproxy.Match{Direction: []netproxy.Direction{netproxy.ToBroker, netproxy.ToClient}[(s.Lot>>16)%2]}
}

func cutOneWay(ctx context.Context, w *World, s Step) error {
	return onLink(ctx, w, s, func(l *kafkatest.Link) { l.CutWhere(s.oneWay()) })
}

// kinds of connections, by API keys that no other one carries: JoinGroup, OffsetCommit, Fetch. OffsetFetch goes over two of them.
var kinds = [][]int16{{11}, {8}, {1}}

// oneKind are the connections that the lot falls on.
func (s Step) oneKind() netproxy.Match {
	return netproxy.Match{Keys: kinds[(s.Lot>>16)%uint64(len(kinds))]}
}

func cutConnection(ctx context.Context, w *World, s Step) error {
	return onLink(ctx, w, s, func(l *kafkatest.Link) { l.CutWhere(s.oneKind()) })
}

func slow(ctx context.Context, w *World, s Step) error {
	delay := time.Duration(50+(s.Lot>>16)%350) * time.Millisecond
	return onLink(ctx, w, s, func(l *kafkatest.Link) { l.Delay(delay) })
}

// longDelay is up to two seconds: three of them in a row are a session timeout.
func (s Step) longDelay() time.Duration {
	return time.Duration(100+(s.Lot>>24)%1900) * time.Millisecond
}

func slowOneWay(ctx context.Context, w *World, s Step) error {
	return onLink(ctx, w, s, func(l *kafkatest.Link) { l.DelayWhere(s.oneWay(), s.longDelay()) })
}

func slowConnection(ctx context.Context, w *World, s Step) error {
	return onLink(ctx, w, s, func(l *kafkatest.Link) { l.DelayWhere(s.oneKind(), s.longDelay()) })
}

func reset(ctx context.Context, w *World, s Step) error {
	return onLink(ctx, w, s, (*kafkatest.Link).Reset)
}

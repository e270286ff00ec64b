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

func cutOneWay(ctx context.Context, w *World, s Step) error {
	way := []netproxy.Direction{netproxy.ToBroker, netproxy.ToClient}[(s.Lot>>16)%2]
	return onLink(ctx, w, s, func(l *kafkatest.Link) { l.CutWhere(netproxy.Match{Direction: way}) })
}

// kinds of connections, by API keys that no other one carries: JoinGroup, OffsetCommit, Fetch. OffsetFetch goes over two of them.
var kinds = [][]int16{{11}, {8}, {1}}

func cutConnection(ctx context.Context, w *World, s Step) error {
	keys := kinds[(s.Lot>>16)%uint64(len(kinds))]
	return onLink(ctx, w, s, func(l *kafkatest.Link) { l.CutWhere(netproxy.Match{Keys: keys}) })
}

func slow(ctx context.Context, w *World, s Step) error {
	delay := time.Duration(50+(s.Lot>>16)%350) * time.Millisecond
	return onLink(ctx, w, s, func(l *kafkatest.Link) { l.Delay(delay) })
}

func reset(ctx context.Context, w *World, s Step) error {
	return onLink(ctx, w, s, (*kafkatest.Link).Reset)
}

package moves_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/test/kit"
)

// A member joins and leaves, ten times, in the middle of tasks that last longer than its stay: no task is interrupted but the leaver's own
// after its grace.
func TestChurnInterruptsNobodyElse(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := group(t, s, 6)
		g.Produce(6)
		members := team(g, 2)
		untilBalanced(g, members...)
		g.Input.StopGrace = 500 * time.Millisecond
		for i := range 10 {
			guest := g.Start(fmt.Sprint("guest", i), lasts(taskTime))
			time.Sleep(taskTime / 3)
			guest.Stop()
		}
		g.UntilAllHandled()
		for _, m := range members {
			if got := g.Find(kit.Cancelled, kit.By(m.Name)); len(got) > 0 {
				g.Errorf("interrupted: %v", got)
			}
		}
		own := 0
		for i := range 10 {
			own += g.Count(kit.Cancelled, kit.By(fmt.Sprint("guest", i)))
		}
		if n := g.Count(kit.Started); n != 36+own {
			g.Errorf("%d starts of 36 messages, and %d tasks of guests were cancelled", n, own)
		}
	}, everywhere()...)
}

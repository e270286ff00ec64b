package strategy

import (
	"math/rand/v2"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
)

// Spacing is how long a member waits after an assignment before it asks for another round by itself: a third of a heartbeat interval under
// cooperative, and one under eager, where each round ends the sessions of all members. A round takes up to an interval by itself, for the
// others hear of it by their heartbeats; no task is stopped by it. A part is drawn: members that wait for each other ask one by one.
func Spacing(p *config.Plan) time.Duration {
	d := max(p.HeartbeatInterval/3, leastCooperative)
	if p.Input.Eager {
		d = max(p.HeartbeatInterval, leastEager)
	}
	return d + rand.N(d/2) //nolint:gosec // spreads members out, keeps no secret
}

const (
	leastCooperative = 500 * time.Millisecond
	leastEager       = time.Second
)

package handler_test

import (
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/assign"
	"github.com/evenkeel-go/evenkeel/internal/offset"
)

// D6-3(c): a member that has missed a generation, in which each member of the group stamps what it starts, goes on where it finds its own stamp.
func TestAMissedGenerationInWhichAllStampIsNoDoubt(t *testing.T) {
	foreign := offset.State{Stamp: offset.Stamp{Owner: 1, Count: 5}}.Encode(4096)
	for name, test := range map[string]struct {
		since  int32 // the member's last generation was 3, and the one it hears next is 5
		text   string
		starts int
	}{
		"in the one that was missed, and since":  {since: 4, starts: 1},
		"since long":                             {since: 1, starts: 1},
		"only in the one that follows":           {since: 5, starts: 2},
		"nobody says so":                         {starts: 2},
		"and somebody else has left a stamp":     {since: 1, text: foreign, starts: 2},
		"and somebody else has left another one": {since: 4, text: "consumer-1@host", starts: 2},
	} {
		t.Run(name, func(t *testing.T) {
			eachLed(t, func(t *testing.T, o handler.Options) {
				r := beginLed(t, o, false, obedient(time.Hour), "a")
				r.told(assign.Assignment{}, 0)
				time.Sleep(time.Minute)
				r.endSession(sarama.ErrRebalanceInProgress)
				if test.text != "" {
					r.member.text = test.text
				}
				r.s.next()
				if r.told(assign.Assignment{StampedSince: test.since}, 0); r.s.GenerationID() != 5 {
					t.Fatalf("generation %d, want 5", r.s.GenerationID())
				}
				r.start()
				time.Sleep(3 * time.Hour)
				if n := r.seen.count(); n != test.starts {
					t.Errorf("%d starts, want %d", n, test.starts)
				}
				r.wantCommitted(0, 1)
				r.group.end()
			})
		})
	}
}

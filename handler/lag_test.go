package handler_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
)

// wantLag looks at the only claim.
func wantLag(t *testing.T, g *group, want int64) {
	t.Helper()
	synctest.Wait()
	if c := g.Status().Claims[0]; c.Lag != want {
		t.Errorf("lag %d, want %d: %+v", c.Lag, want, c)
	}
}

// The lag counts from the next message to be finished to the end of the partition, whatever of that has been received.
func TestLagIsWhatLiesBeforeTheHighWaterMark(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g := newGroup(t, options(t), obedient(time.Hour))
		c := newClaim(0, 0)
		c.initial, c.end = 10, 100
		g.consume(c)
		wantLag(t, g, 90)
		c.put(10, 13)
		wantLag(t, g, 90)
		time.Sleep(150 * time.Minute)
		wantLag(t, g, 88)
		c.end = 1000
		wantLag(t, g, 988)
		c.end = 0 // what sarama knows is older than what was finished
		wantLag(t, g, 0)
		g.end()
	})
}

// A group without an offset on the partition learns from the first message where it begins.
func TestLagOfANewGroupIsKnownWithTheFirstMessage(t *testing.T) {
	for name, first := range map[string]int{"the log's start": 0, "an offset": 7} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				g := newGroup(t, options(t), obedient(time.Hour))
				c := newClaim(0, 0)
				c.initial, c.end = sarama.OffsetOldest, 20
				g.consume(c)
				wantLag(t, g, -1)
				c.put(first, first+2)
				wantLag(t, g, int64(20-first))
				g.end()
			})
		})
	}
}

// A commit that was found late is where the claim goes on.
func TestLagCountsFromACommitThatWasFoundLate(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g := newGroup(t, options(t), obedient(time.Hour))
		c, m := newClaim(0, 0), newMemberSession()
		c.initial, c.end, m.stored = sarama.OffsetOldest, 20, 15
		c.put(0, 17)
		done := g.consumeIn(m, c)
		wantLag(t, g, 5)
		m.cancel(errStopped)
		<-done
		g.end()
	})
}

func TestStatusAsJSON(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g := newGroup(t, options(t), func(ctx context.Context, m *handler.Task) error {
			if m.Offset == 0 {
				return nil
			}
			return obedient(time.Hour)(ctx, m)
		})
		c := newClaim(3, 2)
		c.end = 5
		g.consume(c)
		time.Sleep(90*time.Second + time.Microsecond)
		got, err := json.Marshal(g.Status())
		want := `{"started":2,"succeeded":1,"failed":0,"panicked":0,"cancelled":0,"strays":0,"abandoned":0,"wasted_task_seconds":0,"running":1,"stray":0,"kept":0,` +
			`"claims":[{"topic":"reports","partition":3,"backlog":1,"bytes":1,"paused":false,"finished":1,"lag":4,"retrying":false,` +
			`"blocked":false,"handing_over":false,"tasks":[{"offset":1,"attempt":1,"age":"1m30s"}],"age":"1m30s"}]}`
		if err != nil || string(got) != want {
			t.Errorf("%v\n%s, want\n%s", err, got, want)
		}
		g.end()
		if got, err := json.Marshal(g.Status().Claims); err != nil || string(got) != "[]" {
			t.Errorf("%s, %v: want an empty list", got, err)
		}
	})
}

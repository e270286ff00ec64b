package handler_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
)

// A task that obeys when its partition has not come back is cancelled, as one of a claim that waits for it is: nobody need look at it. One
// that does not is a stray. The log has the cause before the effect.
func TestATaskThatObeysWhenItsPartitionHasGoneIsNoStray(t *testing.T) {
	for late, want := range map[time.Duration]handler.Counts{
		time.Millisecond: {Started: 1, Cancelled: 1, WastedSeconds: 60.001},
		time.Hour:        {Started: 1, Strays: 1, Abandoned: 1, WastedSeconds: 3660},
	} {
		eachKind(t, func(t *testing.T, order handler.Order, plain bool) {
			for _, hooked := range []bool{false, true} {
				var ends taskEnds
				o := ordered(t, order, 1)
				if hooked {
					o.Hooks = []any{&ends}
				}
				r := begin(t, o, plain, func(ctx context.Context, _ *handler.Task) error {
					<-ctx.Done()
					time.Sleep(late)
					return context.Cause(ctx)
				}, "a")
				time.Sleep(time.Minute)
				r.endSession(sarama.ErrRebalanceInProgress)
				r.assign(1)
				time.Sleep(2 * time.Hour)
				if got := r.Status(); got.Counts != want || got.Running+got.Stray+got.Kept > 0 {
					t.Errorf("after %v: %+v, want %+v", late, got, want)
				}
				outcome := handler.Cancelled
				if want.Strays > 0 {
					outcome = handler.Stray
				}
				if hooked && !slices.Equal(ends.of(0), []handler.Outcome{outcome}) {
					t.Errorf("after %v: %v, want %v", late, ends.of(0), outcome)
				}
				told := r.logs.with("level=")
				cause := slices.IndexFunc(told, func(line string) bool { return strings.Contains(line, "has not come back") })
				effect := slices.IndexFunc(told, func(line string) bool { return strings.Contains(line, "has returned: its result is dropped") })
				if cause < 0 || (effect > cause) != (want.Strays > 0) || effect >= 0 && want.Strays == 0 {
					t.Errorf("after %v told %q", late, told)
				}
				r.group.end()
			}
		})
	}
}

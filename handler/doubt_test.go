package handler_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/offset"
)

// A member takes nothing over that somebody else may have had: its tasks are cancelled and have returned before the message runs again.
func TestTaskIsNotAdoptedInDoubt(t *testing.T) {
	foreign := offset.State{Stamp: offset.Stamp{Owner: 1, Count: 5}}.Encode(4096)
	for _, test := range []struct {
		name   string
		plain  bool
		change func(r *rejoining)
	}{
		{"another owner's stamp", false, func(r *rejoining) { r.member.text = foreign }},
		{"no stamp", false, func(r *rejoining) { r.member.text = "" }},
		{"a foreign text", false, func(r *rejoining) { r.member.text = "consumer-1@host" }},
		{"a new member id", false, func(r *rejoining) { r.s.id = "m-2" }},
		{"a missed generation", false, func(r *rejoining) { r.s.next() }},
		{"a commit that cannot be read", false, func(r *rejoining) { r.member.unread = []error{sarama.ErrGroupAuthorizationFailed} }},
		{"a new member id, plain", true, func(r *rejoining) { r.s.id = "m-2" }},
		{"a missed generation, plain", true, func(r *rejoining) { r.s.next() }},
		{"another offset, plain", true, func(r *rejoining) { r.from++; r.log = append(r.log, &sarama.ConsumerMessage{Topic: topic, Offset: 2}) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				var running, most int
				var causes []error
				r := begin(t, options(t), test.plain, func(ctx context.Context, _ *handler.Task) error {
					running++
					most = max(most, running)
					<-ctx.Done()
					causes = append(causes, context.Cause(ctx))
					time.Sleep(time.Minute) // winds down
					running--
					return nil
				}, "a", "a")
				time.Sleep(time.Minute)
				r.endSession(sarama.ErrRebalanceInProgress)
				test.change(r)
				r.assign(0)
				r.start()
				time.Sleep(30 * time.Second)
				synctest.Wait()
				if len(causes) != 1 || !errors.Is(causes[0], handler.ErrLost) || r.seen.count() != 1 {
					t.Errorf("cancelled with %v, %d starts", causes, r.seen.count())
				}
				time.Sleep(time.Hour)
				synctest.Wait()
				if n := r.seen.count(); n != 2 || most != 1 {
					t.Errorf("%d starts, %d at once", n, most)
				}
				r.group.end()
			})
		})
	}
}

// G12: the lease holds between two claims too; over a plain session, of which nobody knows how it fares, it is a fixed time.
func TestKeptTasksAreUnderALease(t *testing.T) {
	for _, plain := range []bool{false, true} {
		inVirtualTime(t, func(t *testing.T) {
			var at time.Time
			o := options(t)
			r := begin(t, o, plain, func(ctx context.Context, _ *handler.Task) error {
				<-ctx.Done()
				at = time.Now()
				return ctx.Err()
			}, "a")
			time.Sleep(time.Minute)
			r.endSession(sarama.ErrRebalanceInProgress)
			ended := time.Now()
			want := o.Plan.Lease
			if !plain {
				want = 5 * time.Second
				time.Sleep(want)
				r.member.stopWork(errTask)
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			if got := at.Sub(ended); got != want {
				t.Errorf("plain %v: cancelled after %v, want %v", plain, got, want)
			}
			r.group.end()
		})
	}
}

// A session that the network has ended says nothing of the membership where the lease is watched; over a plain session it is taken
// as lost. The broker's word counts in both.
func TestWhatASessionEndedWithDecides(t *testing.T) {
	for _, test := range []struct {
		cause error
		kept  [2]int // with a lease, over a plain session
	}{
		{sarama.ErrRebalanceInProgress, [2]int{1, 1}},
		{sarama.ErrSessionConsumeClaimExited, [2]int{1, 1}},
		{sarama.ErrSessionPartitionCountChanged, [2]int{1, 1}},
		{sarama.ErrNotConnected, [2]int{1, 0}},
		{sarama.ErrSessionHeartbeatFailed, [2]int{1, 0}},
		{sarama.ErrUnknownMemberId, [2]int{0, 0}},
		{sarama.ErrIllegalGeneration, [2]int{0, 0}},
		{sarama.ErrFencedInstancedId, [2]int{0, 0}},
		{handler.ErrLost, [2]int{0, 0}},
		{context.Canceled, [2]int{1, 0}}, // a cooperative join has failed, or the user has stopped a plain session
	} {
		for i, plain := range []bool{false, true} {
			inVirtualTime(t, func(t *testing.T) {
				r := begin(t, options(t), plain, obedient(time.Hour), "a")
				time.Sleep(time.Minute)
				r.endSession(test.cause)
				synctest.Wait()
				if got := r.Status().Kept; got != test.kept[i] {
					t.Errorf("%v, plain %v: %d tasks go on, want %d", test.cause, plain, got, test.kept[i])
				}
				r.assign()
				r.group.end()
			})
		}
	}
}

// Where another strategy is offered as well, a round may be won by one that knows nothing of us. Two may be wrapped one by one, and one
// may be wrapped again when the group has to be made again.
func TestNothingIsKeptInAMixedGroup(t *testing.T) {
	for name, c := range map[string]struct {
		offer func(r *rejoining)
		kept  int
	}{
		"two at once": {func(r *rejoining) {
			r.BalanceStrategies(sarama.NewBalanceStrategySticky(), sarama.NewBalanceStrategyRange())
		}, 0},
		"one by one": {func(r *rejoining) {
			r.BalanceStrategies(sarama.NewBalanceStrategySticky())
			r.BalanceStrategies(sarama.NewBalanceStrategyRange())
		}, 0},
		"one twice": {func(r *rejoining) {
			r.BalanceStrategies(sarama.NewBalanceStrategyCooperativeSticky())
			r.BalanceStrategies(sarama.NewBalanceStrategyCooperativeSticky())
		}, 1},
	} {
		inVirtualTime(t, func(t *testing.T) {
			r := begin(t, options(t), false, obedient(time.Hour), "a")
			c.offer(r)
			time.Sleep(time.Minute)
			r.endSession(sarama.ErrRebalanceInProgress)
			if s := r.Status(); s.Kept != c.kept || s.Cancelled != int64(1-c.kept) {
				t.Errorf("%s: status %+v", name, s)
			}
			r.assign()
			r.group.end()
		})
	}
}

package handler_test

import (
	"cmp"
	"context"
	"flag"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/assign"
	"github.com/evenkeel-go/evenkeel/internal/offset"
)

var (
	roundsSeeds = flag.Uint64("rounds", 150, "how many fixed seeds TestRandomRounds takes, from 0")
	roundsSeed  = flag.Uint64("rounds.seed", 0, "one more seed of TestRandomRounds; 0 takes a new one each time")
)

// rareRounds are seeds that meet what one in some hundred does: a task that ends between two sessions and whose claim can commit no more; a
// limit that passes in a round, after a mark was taken back.
var rareRounds = []uint64{258, 484, 568}

// TestRandomRounds lets a leader say at random what it may say of the one partition of a member, round after round and whatever the tasks
// do, and checks that the member keeps each of its promises about a hand-over.
func TestRandomRounds(t *testing.T) {
	for seed := range *roundsSeeds {
		randomRoundsOf(t, seed)
	}
	for _, seed := range rareRounds {
		randomRoundsOf(t, seed)
	}
	if *roundsSeed == 0 {
		*roundsSeed = rand.Uint64()
	}
	randomRoundsOf(t, *roundsSeed)
}

// randomRoundsOf names the run by its seed, so that a failure tells which one to repeat.
func randomRoundsOf(t *testing.T, seed uint64) {
	t.Helper()
	t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
		inVirtualTime(t, func(t *testing.T) { newRandomRounds(t, seed).run() })
	})
}

// holdLimit is that of the random rounds. Their tasks last up to four times as long, so that some outlast a rest.
const holdLimit = time.Hour

// randomRounds is a member with one partition, and its leader.
type randomRounds struct {
	*led
	seed     uint64
	dice     *rand.Rand
	plain    bool // a session of sarama's alone: what asks for a round there is the end of the claim
	promises *promises
}

func newRandomRounds(t *testing.T, seed uint64) *randomRounds {
	r := &randomRounds{seed: seed, dice: rand.New(rand.NewPCG(seed, 1))}
	order, slots := handler.Order(r.dice.IntN(3)), 1
	if order != handler.ByPartition {
		slots += r.dice.IntN(3)
	}
	o := ordered(t, order, slots)
	o.Plan = plan(t, config.Input{Expected: 30 * time.Minute, HoldLimit: holdLimit})
	if r.isBrisk() {
		o.Plan = plan(t, config.Input{Expected: 50 * time.Millisecond, Max: holdLimit, HoldLimit: holdLimit, CrashDetection: 5 * time.Minute})
	}
	r.plain = r.dice.IntN(4) == 0
	r.promises = newPromises(t, order, r.plain)
	r.led = beginLed(t, o, r.plain, r.handle)
	return r
}

// isBrisk says that commits are put off, as where tasks are short, that most are, and that the claim is busy for a while with each of its marks.
func (r *randomRounds) isBrisk() bool { return r.seed%3 == 0 }

// isSteady says that a session lasts for as long as the claim does: what a claim keeps from round to round shows there.
func (r *randomRounds) isSteady() bool { return r.seed%3 == 1 }

// nature is what the task of a message does.
type nature struct {
	takes time.Duration
	deaf  time.Duration // how long it goes on when it was cancelled
	fails bool          // the first attempt does
}

func (r *randomRounds) natureOf(offset int64) (n nature) {
	dice := rand.New(rand.NewPCG(r.seed, 2+uint64(offset)))
	n.takes = upTo(dice, holdLimit/4)
	switch {
	case r.isBrisk() && dice.IntN(3) > 0:
		n.takes = upTo(dice, 200*time.Millisecond)
	case dice.IntN(3) == 0:
		n.takes = upTo(dice, 4*holdLimit)
	}
	switch dice.IntN(6) {
	case 0:
		n.deaf = upTo(dice, 2*holdLimit)
	case 1, 2:
		n.deaf = 30*time.Second + upTo(dice, time.Minute) // about as long as it takes to count as stuck
	}
	n.fails = dice.IntN(7) == 0
	return n
}

func upTo(dice *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(dice.Int64N(int64(most)))
}

func (r *randomRounds) handle(ctx context.Context, m *handler.Task) error {
	first := r.promises.start(m)
	n := r.natureOf(m.Offset)
	err := ctx.Err()
	select {
	case <-time.After(n.takes):
		if n.fails && first {
			err = errTask
		}
	case <-ctx.Done():
		r.promises.cancelled(m, context.Cause(ctx))
		time.Sleep(n.deaf)
		err = ctx.Err()
	}
	r.promises.end(m, err)
	return err
}

func (r *randomRounds) run() {
	for range 60 {
		if r.step(); r.t.Failed() {
			break
		}
	}
	if !r.t.Failed() {
		r.finish()
	}
	r.promises.stop()
	r.group.end()
}

// step lets the member work for a while, and mostly begins a round then: in the middle of a session or between two. A claim that has ended
// leaves only the second.
func (r *randomRounds) step() {
	for range r.dice.IntN(3) {
		r.produce()
	}
	if r.isOver() {
		r.pass(time.Minute)
	} else {
		r.pass(time.Second, time.Minute, time.Hour)
	}
	switch {
	case r.isOver():
		r.roundBetween()
	case r.coin():
	case r.isSteady() || r.coin():
		r.roundWithin()
	default:
		r.roundBetween()
	}
}

func (r *randomRounds) coin() bool { return r.dice.IntN(2) == 0 }

// pass lets time pass, up to one of these.
func (r *randomRounds) pass(most ...time.Duration) {
	time.Sleep(upTo(r.dice, most[r.dice.IntN(len(most))]))
}

// produce appends a message. A claim that has ended does not get it; the next one does.
func (r *randomRounds) produce() {
	m := &sarama.ConsumerMessage{Topic: topic, Offset: int64(len(r.log)), Value: []byte("v"), Timestamp: time.Unix(int64(len(r.log)), 0)}
	m.Key = strconv.AppendInt(nil, int64(r.dice.IntN(3)), 10)
	r.log = append(r.log, m)
	if !r.isOver() {
		again := *m
		r.claim.messages <- &again
	}
}

func (r *randomRounds) isOver() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// nudges is how often the member has been told, in this session, that the leader has to hear of something.
func (r *randomRounds) nudges() int {
	if r.plain {
		return 0
	}
	return r.yields()
}

// roundWithin is a round in which the session goes on. Some last for so long that tasks end in it and limits pass.
func (r *randomRounds) roundWithin() {
	before := r.nudges()
	r.join()
	if r.coin() {
		r.produce()
	}
	r.pass(time.Second, time.Minute, holdLimit/2)
	r.sync()
	if !r.isOver() && r.coin() && (r.coin() || !r.isSteady()) {
		r.rest(before)
	}
}

// roundBetween is a round between two sessions. Now and then a strategy wins it that nobody has wrapped, whose assignment the session alone
// tells of; or the next round begins before the claim does. All of it takes less than the lease, 85 s here, after which tasks are given up.
func (r *randomRounds) roundBetween() {
	r.leave()
	r.pass(time.Second, 20*time.Second)
	r.join()
	r.pass(time.Second, time.Minute)
	unheard, early := r.dice.IntN(8) == 0, r.dice.IntN(8) == 0
	if unheard {
		r.s.next()
		r.promises.told(assign.Assignment{})
	} else {
		r.sync()
	}
	r.setup()
	if early {
		r.join()
	}
	r.start()
	if early {
		r.pass(time.Minute)
		r.sync()
	}
	if !r.isOver() && r.coin() {
		r.rest(0)
	}
}

// leave ends the session.
func (r *randomRounds) leave() {
	r.endSession(sarama.ErrRebalanceInProgress)
	r.promises.sessionEnded()
}

// setup begins a session as sarama does. What has ended since the one before is committed, where the member commits by itself.
func (r *randomRounds) setup() {
	if !r.plain {
		r.from = r.before.committed(0)
		r.member.stored, r.member.text = r.from, cmp.Or(r.before.lastText(), r.member.text)
	}
	if r.isBrisk() {
		r.s.slowMarks(100 * time.Millisecond)
	}
	_ = r.Setup(claiming{r.s}) // always nil
}

// claiming is a session that has the partition.
type claiming struct{ *session }

func (claiming) Claims() map[string][]int32 { return map[string][]int32{topic: {0}} }

// join reports to the leader.
func (r *randomRounds) join() {
	r.promises.reported(r.report(), r.isStored)
}

// isStored says that the next owner would not run the message again. The claim before may have committed after its session had ended, and one
// that has committed nothing leaves what it has found.
func (r *randomRounds) isStored(o int64) bool {
	stored := storedBy(r.s.committed(0), r.s.lastText(), o)
	if r.before != nil {
		stored = stored || storedBy(r.before.committed(0), r.before.lastText(), o)
	}
	if !r.plain {
		stored = stored || storedBy(r.member.stored, r.member.text, o)
	}
	return stored
}

// storedBy says that a commit covers a message.
func storedBy(next int64, text string, o int64) bool {
	state, err := offset.Decode(text, next)
	return o < next || err == nil && slices.ContainsFunc(state.Finished, func(x offset.Range) bool { return x.From <= o && o < x.To })
}

// sync brings what the leader says.
func (r *randomRounds) sync() {
	a := r.word()
	r.promises.told(a)
	r.told(a, 0)
}

// word is what a leader may say after the latest report. It stops a task past the limit where the partition has to move, and any where two
// members claim the partition.
func (r *randomRounds) word() (a assign.Assignment) {
	if r.coin() {
		a = handOver
		if r.promises.isOver() && r.dice.IntN(4) > 0 {
			a.Stop = only(0)
		}
		return a
	}
	if r.dice.IntN(5) == 0 && r.promises.isBusy() {
		a.Stop = only(0)
	}
	return a
}

// rest lets so much time pass that each limit does too. Whatever the leader has to hear by then, the member has been told of since the round
// began, and nobody idles but where it was asked to.
func (r *randomRounds) rest(nudges int) {
	time.Sleep(holdLimit + holdLimit/2)
	r.promises.mustHaveStopped()
	over := r.isOver()
	if list := r.HandOvers(); !r.plain && !over && len(list) > 0 && r.nudges() == nudges {
		r.promises.fail("nobody was told of %v", list)
	}
	if over {
		r.promises.claimEnded()
		return
	}
	if s := r.Status().Claims[0]; s.Backlog > 0 && !s.Retrying {
		r.promises.mustWork()
	}
}

// finish wants nothing of the member any more: all that there is gets done.
func (r *randomRounds) finish() {
	r.leave()
	r.promises.told(assign.Assignment{})
	r.told(assign.Assignment{}, 0)
	r.setup()
	r.start()
	time.Sleep(time.Duration(len(r.log)+1) * 5 * holdLimit)
	if got := r.s.committed(0); got != int64(len(r.log)) {
		r.promises.fail("committed %d of %d messages in the end", got, len(r.log))
	}
}

package handler

import (
	"context"
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/task"
)

// A runner is preempted between taking the number of its next task and its look at the intake, while its claim closes and the next one
// adopts its run: the task goes back, and may start.
func TestATaskThatIsGivenBackHoldsNothing(t *testing.T) {
	p := &pool{limits: limits{slots: 0, partition: 1 << 30, key: 1}, keys: keys{order: ByPartition}, claims: map[Claim]*claim{}, strays: map[Claim]*claim{}, kept: map[Claim]*claim{}}
	p.running = 1
	mk := func() *claim {
		c := &claim{key: Claim{"t", 0}, pool: p, scope: task.NewScope(context.Background()), wake: make(chan struct{}, 1), lineup: p.newLineup()}
		c.intake, c.stop = context.WithCancel(context.Background())
		return c
	}
	old, next := mk(), mk()
	p.claims[old.key] = old
	var batch []*sarama.ConsumerMessage
	for o := range int64(3) {
		batch = append(batch, &sarama.ConsumerMessage{Topic: "t", Offset: o})
	}
	old.lineup.prepare(batch, old.scope)
	old.lineup.push()
	r := &runner{pool: p}
	// takeLocked, with a run of three
	old.lineup.take(r, 3, 1)
	r.claim, r.intake, r.took = old, old.intake, r.n
	old.enlistLocked(r)
	r.next.Add(1)          // 0 runs and ends
	i := r.next.Add(1) - 1 // 1 is about to start: the runner is preempted here, before it looks at the intake
	old.stop()
	p.closeLocked(old)
	p.keepLocked(old)
	p.adoptLocked(next, old)
	// the runner goes on
	if r.intake.Err() == nil {
		t.Fatal("the intake has ended")
	}
	p.running = 1 // no runner is started by the test
	p.starting = 1
	r.giveBack(i)
	r.finishLocked(0)
	if next.flight != 0 || next.actives != 0 {
		t.Errorf("flight %d, actives %d", next.flight, next.actives)
	}
	if s := next.lineup.(*serial); s.queue.Len() == 1 && !next.mayStartLocked() {
		t.Errorf("task 1 waits, nothing runs, and it may never start: held %v", s.out != nil)
	}
}

// Another message has come at the offset of an adopted task whose runner had not called the handler yet.
func TestADisownedTaskThatIsGivenBackIsForgotten(t *testing.T) {
	for _, order := range []Order{ByPartition, ByKey, None} {
		o := Options{Order: order}
		p := &pool{limits: limits{slots: 0, partition: 1 << 30, key: 1}, keys: newKeys(o), claims: map[Claim]*claim{}, strays: map[Claim]*claim{}, kept: map[Claim]*claim{}}
		mk := func() *claim {
			c := &claim{key: Claim{"t", 0}, pool: p, scope: task.NewScope(context.Background()), wake: make(chan struct{}, 1), lineup: p.newLineup()}
			c.intake, c.stop = context.WithCancel(context.Background())
			return c
		}
		old, next := mk(), mk()
		p.claims[old.key] = old
		old.lineup.prepare([]*sarama.ConsumerMessage{{Topic: "t", Offset: 0, Key: []byte("k")}}, old.scope)
		old.lineup.push()
		r := &runner{pool: p}
		old.lineup.take(r, 1, 1)
		r.claim, r.intake, r.took = old, old.intake, r.n
		old.enlistLocked(r)
		i := r.next.Add(1) - 1 // 0 is about to start: the runner is preempted here
		old.stop()
		p.closeLocked(old)
		p.keepLocked(old)
		p.adoptLocked(next, old)
		if next.disownLocked(0) == nil {
			t.Fatal("not found")
		}
		p.running, p.starting = 1, 1
		r.giveBack(i)
		r.finishLocked(0)
		if next.lineup.mayStart() {
			t.Errorf("order %v: the message that is no longer in the log waits to be handled, and its success would count for the one that has come at its offset", order)
		}
		if next.flight != 0 || next.actives != 0 {
			t.Errorf("flight %d, actives %d", next.flight, next.actives)
		}
	}
}

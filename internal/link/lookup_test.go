package link_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/link"
)

// TestFirstAnswerWins: brokers that swallow what is sent to them hold nobody up while one answers.
func TestFirstAnswerWins(t *testing.T) {
	w := newWorld(t)
	holes := []string{"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"}
	for _, hole := range holes {
		w.wire.hole(hole)
	}
	w.conf.Net.DialTimeout = time.Hour
	l, err := link.New(t.Context(), append(holes, w.broker.Addr()), group, w.conf, w.options())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Heartbeat(t.Context(), &sarama.HeartbeatRequest{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the questions to the others are given up", func() bool { return inFunction("link.askAddress") == 0 })
}

// TestSilentCommitConnectionIsPassedOver: the commit connection is asked first, and when it is dead another broker is.
func TestSilentCommitConnectionIsPassedOver(t *testing.T) {
	w := newWorld(t)
	l := w.link(t, func(o *link.Options) { o.Short = time.Hour })
	if _, err := l.Heartbeat(t.Context(), &sarama.HeartbeatRequest{}); err != nil {
		t.Fatal(err)
	}
	w.wire.hold(t, findCoordinator) // the first question is the commit connection's
	done := async(func() error { return l.RefreshCoordinator(group) })
	if err := wait(t, "refresh", done); err != nil {
		t.Fatal(err)
	}
}

// TestOneSearchForAll: callers who ask at the same time wait for one answer.
func TestOneSearchForAll(t *testing.T) {
	w := newWorld(t)
	l := w.link(t, func(o *link.Options) { o.Patience = time.Hour })
	if _, err := l.Heartbeat(t.Context(), &sarama.HeartbeatRequest{}); err != nil {
		t.Fatal(err)
	}
	release := w.wire.hold(t, findCoordinator)
	w.wire.hold(t, findCoordinator) // and what is asked when the first is slow
	asked := w.wire.count(findCoordinator)
	const callers = 10
	var wg sync.WaitGroup
	for range callers {
		// Ends with the search.
		wg.Go(func() {
			if err := l.RefreshCoordinator(group); err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, "all wait", func() bool { return inFunction("link.(*finder).locate") == callers })
	release()
	_ = wait(t, "the callers", async(func() error { wg.Wait(); return nil }))
	if n := w.wire.count(findCoordinator) - asked; n > 2 {
		t.Errorf("%d questions for one search", n)
	}
}

// TestCoordinatorMoves: both connections are replaced once the move is known, and the old ones closed.
func TestCoordinatorMoves(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	l := w.link(t, nil)
	before := coordinator(t, l)
	if _, err := l.Heartbeat(t.Context(), &sarama.HeartbeatRequest{}); err != nil {
		t.Fatal(err)
	}
	w.answers["FindCoordinatorRequest"] = sarama.NewMockFindCoordinatorResponse(t).SetCoordinator(sarama.CoordinatorGroup, group, other.broker)
	w.answer()
	if err := l.RefreshCoordinator(group); err != nil {
		t.Fatal(err)
	}
	after := coordinator(t, l)
	if after.Addr() != other.broker.Addr() {
		t.Errorf("coordinator at %s, want %s", after.Addr(), other.broker.Addr())
	}
	if _, err := l.Heartbeat(t.Context(), &sarama.HeartbeatRequest{}); err != nil {
		t.Fatal(err)
	}
	if n := countRequests[*sarama.HeartbeatRequest](other.broker); n != 1 {
		t.Errorf("the new coordinator got %d heartbeats", n)
	}
	eventually(t, "the old connection is closed", func() bool { up, _ := before.Connected(); return !up })
}

// TestCoordinatorNotAvailableYet: no error for New, and Coordinator waits for it.
func TestCoordinatorNotAvailableYet(t *testing.T) {
	w := newWorld(t)
	there := w.answers["FindCoordinatorRequest"]
	w.answers["FindCoordinatorRequest"] = sarama.NewMockFindCoordinatorResponse(t).
		SetError(sarama.CoordinatorGroup, group, sarama.ErrConsumerCoordinatorNotAvailable)
	w.answer()
	l := w.link(t, nil)
	done := async(func() error { _, err := l.Coordinator(group); return err })
	asked := w.wire.count(findCoordinator)
	eventually(t, "it is asked for again", func() bool { return w.wire.count(findCoordinator) > asked+1 })
	w.answers["FindCoordinatorRequest"] = there
	w.answer()
	if err := wait(t, "coordinator", done); err != nil {
		t.Fatal(err)
	}
}

// TestNobodyAnswers: New says that no broker could be reached, and how.
func TestNobodyAnswers(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	w := newWorld(t)
	_, err = link.New(t.Context(), []string{closed.Addr().String()}, group, w.conf, w.options())
	wantErr(t, err, sarama.ErrOutOfBrokers)
	var dial *net.OpError
	if !asErr(err, &dial) {
		t.Errorf("the cause is lost: %v", err)
	}
}

// TestPatienceEnds: with no broker answering, Coordinator returns after its patience with an error that says so.
func TestPatienceEnds(t *testing.T) {
	w := newWorld(t)
	l := w.link(t, func(o *link.Options) { o.Patience = 300 * time.Millisecond })
	w.wire.hole("*")
	done := async(func() error { _, err := l.Coordinator(group); return err })
	wantErr(t, wait(t, "coordinator", done), sarama.ErrOutOfBrokers)
}

// TestLocateEndsWithItsContext: the bound context and the patience last longer.
func TestLocateEndsWithItsContext(t *testing.T) {
	w := newWorld(t)
	l := w.link(t, func(o *link.Options) { o.Patience = time.Hour })
	w.wire.hole("*")
	ctx, cancel := context.WithCancel(t.Context())
	done := async(func() error { return l.Locate(ctx) })
	cancel()
	wantErr(t, wait(t, "locate", done), context.Canceled)
}

// TestOtherGroups: their coordinators are sarama's own business.
func TestOtherGroups(t *testing.T) {
	w := newWorld(t)
	w.answers["FindCoordinatorRequest"] = sarama.NewMockFindCoordinatorResponse(t).
		SetCoordinator(sarama.CoordinatorGroup, group, w.broker).SetCoordinator(sarama.CoordinatorGroup, "other", w.broker)
	w.answer()
	l := w.link(t, nil)
	ours := coordinator(t, l)
	if err := l.RefreshCoordinator("other"); err != nil {
		t.Fatal(err)
	}
	theirs, err := l.Coordinator("other")
	if err != nil {
		t.Fatal(err)
	}
	if theirs == ours {
		t.Error("another group was given our connection")
	}
}

func countRequests[R any](b *sarama.MockBroker) int {
	n := 0
	for _, r := range b.History() {
		if _, ok := any(r.Request).(R); ok {
			n++
		}
	}
	return n
}

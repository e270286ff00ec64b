package link_test

import (
	"context"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/link"
)

// joining sends a join over the group connection and returns when the broker has it. It hangs if the broker does not answer.
func joining(t *testing.T, w *world, l *link.Link) (answered <-chan error) {
	t.Helper()
	b, before := coordinator(t, l), countRequests[*sarama.JoinGroupRequest](w.broker)
	join := async(func() error { _, err := b.JoinGroup(&sarama.JoinGroupRequest{}); return err })
	eventually(t, "the join is out", func() bool { return countRequests[*sarama.JoinGroupRequest](w.broker) > before })
	return join
}

// TestJoiningLastsUntilTheAnswer: not until the sync, and whatever the answer is.
func TestJoiningLastsUntilTheAnswer(t *testing.T) {
	w := newWorld(t)
	w.answers["JoinGroupRequest"] = sarama.NewMockJoinGroupResponse(t).SetError(sarama.ErrRebalanceInProgress)
	w.answer()
	l := w.link(t, nil)
	if l.Joining() || l.LastSync() != (link.Sync{}) {
		t.Error("joining without a connection")
	}
	b := coordinator(t, l)
	release := w.wire.hold(t, joinGroup)
	join := async(func() error { _, err := b.JoinGroup(&sarama.JoinGroupRequest{}); return err })
	eventually(t, "the join is out", l.Joining)
	if _, err := l.Heartbeat(t.Context(), &sarama.HeartbeatRequest{}); err != nil || !l.Joining() {
		t.Errorf("joining ended with a heartbeat on the other connection: %v", err)
	}
	release()
	if err := wait(t, "join", join); err != nil {
		t.Fatal(err)
	}
	if l.Joining() || !l.LastSync().Due {
		t.Errorf("joining %v, and the sync due %v, after the answer", l.Joining(), l.LastSync().Due)
	}
	release = w.wire.hold(t, syncGroup)
	before := time.Now()
	sync := async(func() error { _, err := b.SyncGroup(&sarama.SyncGroupRequest{}); return err })
	eventually(t, "the sync is out", func() bool { return w.wire.count(syncGroup) == 1 })
	s := l.LastSync()
	if l.Joining() || !s.Answered.IsZero() || s.Sent.Before(before) || s.Sent.After(time.Now()) {
		t.Errorf("joining %v during a sync that was sent %v after its call: %+v", l.Joining(), s.Sent.Sub(before), s)
	}
	release()
	if err := wait(t, "sync", sync); err != nil {
		t.Fatal(err)
	}
	if got := l.LastSync(); got.Due || got.Sent != s.Sent || got.Answered.Before(s.Sent) || got.Answered.After(time.Now()) {
		t.Errorf("sent %v, answered %v", got.Sent, got.Answered)
	}
}

// TestJoiningEndsWithItsConnection: what it has begun nobody knows, so that the sync before it says nothing either. A join whose connection is gone is none, though the coordinator cannot be found for the next one.
func TestJoiningEndsWithItsConnection(t *testing.T) {
	for name, end := range map[string]func(w *world, cancel context.CancelFunc){
		"broken":    func(w *world, _ context.CancelFunc) { w.wire.breakAll() },
		"cancelled": func(_ *world, cancel context.CancelFunc) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.hang("JoinGroupRequest")
			l := w.link(t, nil)
			ctx, cancel := context.WithCancel(t.Context())
			l.Bind(ctx)
			if _, err := coordinator(t, l).SyncGroup(&sarama.SyncGroupRequest{}); err != nil {
				t.Fatal(err)
			}
			join := joining(t, w, l)
			if !l.Joining() || l.LastSync().Answered.IsZero() {
				t.Errorf("joining %v, and before it %+v", l.Joining(), l.LastSync())
			}
			w.wire.hole("*")
			end(w, cancel)
			if err := wait(t, "join", join); err == nil {
				t.Error("the join succeeded")
			}
			if s := l.LastSync(); l.Joining() || !s.Answered.IsZero() || s.Out {
				t.Errorf("joining %v, and what is known of the round: %+v", l.Joining(), s)
			}
		})
	}
}

package link_test

import (
	"context"
	"errors"
	"testing"

	"github.com/IBM/sarama"
)

// TestCancelEndsAPendingJoin: the socket is closed under the join, Coordinator fails at once, and the next Bind leaves over a new
// connection.
func TestCancelEndsAPendingJoin(t *testing.T) {
	w := newWorld(t)
	l := w.link(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	l.Bind(ctx)
	b := coordinator(t, l)
	w.wire.hold(t, joinGroup)
	join := async(func() error { _, err := b.JoinGroup(&sarama.JoinGroupRequest{}); return err })
	eventually(t, "the join is sent", func() bool { return w.wire.count(joinGroup) == 1 })
	open := w.wire.open()

	cancel()
	if err := wait(t, "join", join); err == nil {
		t.Error("the join succeeded")
	}
	if now := w.wire.open(); now != open-1 {
		t.Errorf("%d sockets are open, %d before", now, open)
	}
	_, err := l.Coordinator(group)
	wantErr(t, err, context.Canceled)

	l.Bind(t.Context())
	if _, err := coordinator(t, l).LeaveGroup(&sarama.LeaveGroupRequest{GroupId: group}); err != nil {
		t.Fatal(err)
	}
}

// TestLateEndOfABindSparesTheNext: the end of a context is acted on by a goroutine, which may run after the next Bind's work has its
// connection.
func TestLateEndOfABindSparesTheNext(t *testing.T) {
	w := newWorld(t)
	l := w.link(t, nil)
	for range 50 {
		old, cancel := context.WithCancel(t.Context())
		unbind := l.Bind(old)
		l.Bind(t.Context())
		b := coordinator(t, l)
		cancel()
		eventually(t, "the end is acted on", func() bool { return !unbind() })
		for range 10 {
			if _, err := b.Heartbeat(&sarama.HeartbeatRequest{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestUnbind: the end of a context that was taken away again ends nothing.
func TestUnbind(t *testing.T) {
	w := newWorld(t)
	l := w.link(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	unbind := l.Bind(ctx)
	b := coordinator(t, l)
	if !unbind() {
		t.Error("unbind says that it came too late")
	}
	cancel()
	if again := coordinator(t, l); again != b {
		t.Error("the connection was replaced")
	}
}

// TestCancelEndsEveryWait: each method that sarama calls for the group returns when the bound context ends, with no broker answering.
func TestCancelEndsEveryWait(t *testing.T) {
	w := newWorld(t)
	l := w.link(t, nil)
	if err := l.RefreshMetadata("orders"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	l.Bind(ctx)
	w.wire.hole("*")
	w.wire.breakAll()
	calls := map[string]<-chan error{
		"Coordinator":        async(func() error { _, err := l.Coordinator(group); return err }),
		"RefreshCoordinator": async(func() error { return l.RefreshCoordinator(group) }),
		"RefreshMetadata":    async(func() error { return l.RefreshMetadata("orders") }),
		"Partitions":         async(func() error { _, err := l.Partitions("other"); return err }),
		"GetOffset":          async(func() error { _, err := l.GetOffset("orders", 0, sarama.OffsetNewest); return err }),
		"LeaderAndEpoch":     async(func() error { _, _, err := l.LeaderAndEpoch("other", 0); return err }),
	}
	cancel()
	for name, done := range calls {
		if err := wait(t, name, done); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package link_test

import (
	"net"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/link"
)

// TestJoinAndSyncGetTheLongDeadline: their answers come after several short deadlines and are still taken, on the same connection.
func TestJoinAndSyncGetTheLongDeadline(t *testing.T) {
	for name, c := range map[string]struct {
		key  uint16
		call func(*sarama.Broker) error
	}{
		"join": {joinGroup, func(b *sarama.Broker) error { _, err := b.JoinGroup(&sarama.JoinGroupRequest{}); return err }},
		"sync": {syncGroup, func(b *sarama.Broker) error { _, err := b.SyncGroup(&sarama.SyncGroupRequest{}); return err }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			l := w.link(t, func(o *link.Options) { o.Short = 100 * time.Millisecond })
			b := coordinator(t, l)
			release := w.wire.hold(t, c.key)
			done := async(func() error { return c.call(b) })
			time.AfterFunc(500*time.Millisecond, release)
			if err := wait(t, name, done); err != nil {
				t.Fatal(err)
			}
			if again := coordinator(t, l); again != b {
				t.Error("the connection was replaced")
			}
		})
	}
}

// TestTheLongDeadlineMayBeSetLater: what the brokers tell of their limits may make joins longer, or shorter.
func TestTheLongDeadlineMayBeSetLater(t *testing.T) {
	w := newWorld(t)
	l := w.link(t, func(o *link.Options) { o.Short, o.Long = time.Hour, time.Hour })
	l.JoinWithin(200 * time.Millisecond)
	b := coordinator(t, l)
	w.wire.hold(t, joinGroup)
	join := async(func() error { _, err := b.JoinGroup(&sarama.JoinGroupRequest{}); return err })
	wantErr(t, wait(t, "join", join), net.ErrClosed)
}

// TestOtherRequestsGetTheShortDeadline: sarama keeps a connection after a timeout, with nobody reading it. Ours is closed, which
// sarama's error says, and the next Broker works.
func TestOtherRequestsGetTheShortDeadline(t *testing.T) {
	w := newWorld(t)
	l := w.link(t, func(o *link.Options) { o.Short, o.Long = 200*time.Millisecond, time.Hour })
	b := coordinator(t, l)
	w.wire.hold(t, heartbeat)
	done := async(func() error { _, err := b.Heartbeat(&sarama.HeartbeatRequest{}); return err })
	wantErr(t, wait(t, "heartbeat", done), net.ErrClosed)
	if up, _ := b.Connected(); up {
		t.Error("sarama keeps the connection after a timeout")
	}
	again := coordinator(t, l)
	if again == b {
		t.Fatal("the broken connection is handed out again")
	}
	if _, err := again.Heartbeat(&sarama.HeartbeatRequest{}); err != nil {
		t.Fatal(err)
	}
}

// TestDeadlineAfterAJoinIsShortAgain: the long deadline is the join's, not the connection's.
func TestDeadlineAfterAJoinIsShortAgain(t *testing.T) {
	w := newWorld(t)
	l := w.link(t, func(o *link.Options) { o.Short, o.Long = 200*time.Millisecond, time.Hour })
	b := coordinator(t, l)
	if _, err := b.JoinGroup(&sarama.JoinGroupRequest{}); err != nil {
		t.Fatal(err)
	}
	w.wire.hold(t, heartbeat)
	done := async(func() error { _, err := b.Heartbeat(&sarama.HeartbeatRequest{}); return err })
	wantErr(t, wait(t, "heartbeat", done), net.ErrClosed)
}

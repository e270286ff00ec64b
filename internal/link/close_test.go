package link_test

import (
	"context"
	"errors"
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/link"
)

// TestCloseWithNobodyAnswering: every broker swallows what is sent to it. Close returns, and so does whoever waits.
func TestCloseWithNobodyAnswering(t *testing.T) {
	w := newWorld(t)
	w.conf.Net.DialTimeout = time.Hour
	l := w.link(t, func(o *link.Options) { o.Short, o.Long, o.Patience = time.Hour, time.Hour, time.Hour })
	b := coordinator(t, l)
	if err := l.RefreshMetadata("orders"); err != nil {
		t.Fatal(err)
	}
	w.wire.hole("*")
	calls := map[string]<-chan error{
		"join":            async(func() error { _, err := b.JoinGroup(&sarama.JoinGroupRequest{}); return err }),
		"commit":          async(func() error { _, err := l.Commit(context.Background(), commitRequest(w.conf)); return err }),
		"heartbeat":       async(func() error { _, err := l.Heartbeat(context.Background(), &sarama.HeartbeatRequest{}); return err }),
		"RefreshMetadata": async(func() error { return l.RefreshMetadata() }),
		"GetOffset":       async(func() error { _, err := l.GetOffset("orders", 0, sarama.OffsetNewest); return err }),
	}
	eventually(t, "all wait for answers", func() bool {
		return inFunction("sarama.(*client).RefreshMetadata") > 0 && inFunction("sarama.(*client).GetOffset") > 0 &&
			inFunction("sarama.(*Broker).JoinGroup") > 0 && inFunction("link.exchange") > 1
	})
	if err := wait(t, "Close", async(l.Close)); err != nil {
		t.Error(err)
	}
	for name, done := range calls {
		if err := wait(t, name, done); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := l.Close(); errors.Is(err, sarama.ErrClosedClient) {
		t.Error("the second Close returns another error")
	}
}

// TestAfterClose: what sarama's ConsumerGroup knows is returned.
func TestAfterClose(t *testing.T) {
	w := newWorld(t)
	l := w.link(t, nil)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if !l.Closed() {
		t.Error("not closed")
	}
	_, err := l.Coordinator(group)
	wantErr(t, err, sarama.ErrClosedClient)
	wantErr(t, l.RefreshCoordinator(group), sarama.ErrClosedClient)
	wantErr(t, l.RefreshMetadata("orders"), sarama.ErrClosedClient)
	_, err = l.Heartbeat(t.Context(), &sarama.HeartbeatRequest{})
	wantErr(t, err, sarama.ErrClosedClient)
}

// TestNothingIsLeft: goroutines and sockets go down to where they were.
func TestNothingIsLeft(t *testing.T) {
	w := newWorld(t)
	use := func() {
		l, err := link.New(t.Context(), []string{w.broker.Addr()}, group, w.conf, w.options())
		if err != nil {
			t.Fatal(err)
		}
		coordinator(t, l)
		_, _ = l.Commit(t.Context(), commitRequest(w.conf))
		_ = l.RefreshMetadata("orders", "gone")
		w.wire.breakAll()
		_, _ = l.Commit(t.Context(), commitRequest(w.conf))
		coordinator(t, l)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	use() // what is started once a process
	before := settled(w)
	for range 10 {
		use()
	}
	eventually(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= before })
	eventually(t, "sockets close", func() bool { return w.wire.open() == 0 })
}

// settled waits until the broker's goroutines for closed connections have ended, and counts what is left.
func settled(w *world) int {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if w.wire.open() == 0 && inFunction("MockBroker).handleRequests") == 0 && inFunction("link.") <= 1 {
			break
		}
	}
	return runtime.NumGoroutine()
}

// TestCut: sarama's own connections go and do not come back; the member can still leave.
func TestCut(t *testing.T) {
	w := newWorld(t)
	l := w.link(t, nil)
	if err := l.RefreshMetadata("orders"); err != nil {
		t.Fatal(err)
	}
	w.hang("OffsetRequest")
	offset := async(func() error { _, err := l.GetOffset("orders", 0, sarama.OffsetNewest); return err })
	eventually(t, "the question is sent", func() bool { return w.wire.count(listOffsets) > 0 })
	l.Cut()
	if err := wait(t, "GetOffset", offset); err == nil {
		t.Error("an offset came over a cut connection")
	}
	if l.Left() {
		t.Error("left before the leave")
	}
	if _, err := coordinator(t, l).LeaveGroup(&sarama.LeaveGroupRequest{GroupId: group}); err != nil {
		t.Error(err)
	}
}

// An error of the group's Close says little; what counts is whether the coordinator has answered.
func TestLeftMeansAnAnsweredLeave(t *testing.T) {
	w := newWorld(t)
	l := w.link(t, func(o *link.Options) { o.Short = 200 * time.Millisecond })
	w.wire.hold(t, leaveGroup)
	if _, err := coordinator(t, l).LeaveGroup(&sarama.LeaveGroupRequest{GroupId: group}); err == nil || l.Left() {
		t.Errorf("no answer came: error %v, left %v", err, l.Left())
	}
	b := coordinator(t, l)
	if _, err := b.Heartbeat(&sarama.HeartbeatRequest{}); err != nil || l.Left() {
		t.Errorf("the answer of a heartbeat: error %v, left %v", err, l.Left())
	}
	if _, err := b.LeaveGroup(&sarama.LeaveGroupRequest{GroupId: group}); err != nil || !l.Left() {
		t.Errorf("an answer came: error %v, left %v", err, l.Left())
	}
}

// deaf is a user's dialer that takes a context and does not heed it.
type deaf struct{ blind }

func (d deaf) DialContext(_ context.Context, network, addr string) (net.Conn, error) {
	return d.dial(network, addr)
}

// TestCutDuringADial: the connection that comes of it is closed.
func TestCutDuringADial(t *testing.T) {
	w := newWorld(t)
	hang, entered := make(chan struct{}), make(chan struct{})
	enter := sync.OnceFunc(func() { close(entered) })
	var slow atomic.Bool
	w.conf.Net.Proxy.Dialer = deaf{blind{func(network, addr string) (net.Conn, error) {
		if slow.Load() {
			enter()
			<-hang
		}
		return w.wire.Dial(network, addr)
	}}}
	l := w.link(t, nil)
	if _, err := l.Heartbeat(t.Context(), &sarama.HeartbeatRequest{}); err != nil {
		t.Fatal(err)
	}
	open := w.wire.open()
	slow.Store(true)
	refresh := async(func() error { return l.RefreshMetadata() })
	<-entered
	l.Cut()
	close(hang)
	if err := wait(t, "refresh", refresh); err == nil {
		t.Error("metadata came over a cut connection")
	}
	if now := w.wire.open(); now != open {
		t.Errorf("%d sockets are open, %d before", now, open)
	}
}

// TestFullMetadata: where the configuration asks for all topics, New has looked at them.
func TestFullMetadata(t *testing.T) {
	w := newWorld(t)
	w.conf.Metadata.Full = true
	topics, err := w.link(t, nil).Topics()
	if err != nil || !slices.Contains(topics, "orders") {
		t.Errorf("topics %v, %v", topics, err)
	}
}

// TestOver: the user's client is used and stays open.
func TestOver(t *testing.T) {
	for name, full := range map[string]bool{"known brokers": true, "seeds only": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.conf.Metadata.Full = full
			client, err := sarama.NewClient([]string{w.broker.Addr()}, w.conf)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			l, err := link.Over(client, group, w.options())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := coordinator(t, l).Heartbeat(&sarama.HeartbeatRequest{}); err != nil {
				t.Error(err)
			}
			if _, err := l.Commit(t.Context(), commitRequest(w.conf)); err != nil {
				t.Error(err)
			}
			wantPartitions(t, l, "gone")
			if l.Config() != client.Config() {
				t.Error("another configuration")
			}
			l.Cut()
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if client.Closed() {
				t.Error("the user's client was closed")
			}
			if err := client.RefreshMetadata("orders"); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("closed", func(t *testing.T) {
		w := newWorld(t)
		client, err := sarama.NewClient([]string{w.broker.Addr()}, w.conf)
		if err != nil {
			t.Fatal(err)
		}
		_ = client.Close()
		_, err = link.Over(client, group, w.options())
		wantErr(t, err, sarama.ErrClosedClient)
	})
}

// blind is a user's dialer that knows no context.
type blind struct {
	dial func(network, addr string) (net.Conn, error)
}

func (b blind) Dial(network, addr string) (net.Conn, error) { return b.dial(network, addr) }

// TestDialerWithoutContext: it is used, and given up when it hangs. A connection that it makes later is closed.
func TestDialerWithoutContext(t *testing.T) {
	w := newWorld(t)
	hang, entered := make(chan struct{}), make(chan struct{}, 10)
	w.conf.Net.Proxy.Dialer = blind{func(network, addr string) (net.Conn, error) {
		entered <- struct{}{}
		<-hang
		return w.wire.Dial(network, addr)
	}}
	ctx, cancel := context.WithCancel(t.Context())
	done := async(func() error {
		_, err := link.New(ctx, []string{w.broker.Addr()}, group, w.conf, w.options())
		return err
	})
	<-entered
	cancel()
	wantErr(t, wait(t, "New", done), context.Canceled)
	close(hang)
	eventually(t, "the late connection is closed", func() bool { return len(w.wire.dials()) == 1 && w.wire.open() == 0 })

	l := w.link(t, nil)
	if _, err := l.Heartbeat(t.Context(), &sarama.HeartbeatRequest{}); err != nil {
		t.Fatal(err)
	}
}

// TestTheUsersFiguresStay: a Broker that closes takes the figures of its registry with it, also those of all other brokers.
func TestTheUsersFiguresStay(t *testing.T) {
	w := newWorld(t)
	l := w.link(t, nil)
	if err := l.RefreshMetadata("orders"); err != nil {
		t.Fatal(err)
	}
	there := func() bool { return w.conf.MetricRegistry.Get("request-rate") != nil }
	if !there() {
		t.Fatal("sarama's own client has no figures")
	}
	b := coordinator(t, l)
	w.wire.breakAll()
	if _, err := b.Heartbeat(&sarama.HeartbeatRequest{}); err == nil {
		t.Fatal("the connection is not broken")
	}
	if !there() {
		t.Error("the figures of sarama's own client have gone with a line of ours")
	}
}

// TestConfigIsNotChanged: New works on copies.
func TestConfigIsNotChanged(t *testing.T) {
	w := newWorld(t)
	before := *w.conf
	l := w.link(t, nil)
	coordinator(t, l)
	if w.conf.Net.Proxy != before.Net.Proxy || w.conf.Net.ReadTimeout != before.Net.ReadTimeout ||
		w.conf.Metadata.RefreshFrequency != before.Metadata.RefreshFrequency || w.conf.MetricRegistry != before.MetricRegistry {
		t.Error("the configuration was changed")
	}
	if l.Config().Net.Proxy != before.Net.Proxy || l.Config().Metadata.RefreshFrequency != before.Metadata.RefreshFrequency {
		t.Error("Config shows what is ours")
	}
}

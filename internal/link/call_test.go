package link_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/link"
)

// TestAnswers: each of our own requests gets the broker's answer, past a join that is pending.
func TestAnswers(t *testing.T) {
	w := newWorld(t)
	w.answers["OffsetCommitRequest"] = sarama.NewMockOffsetCommitResponse(t).SetError(group, "orders", 0, sarama.ErrIllegalGeneration)
	w.answers["HeartbeatRequest"] = sarama.NewMockHeartbeatResponse(t).SetError(sarama.ErrRebalanceInProgress)
	w.answer()
	l := w.link(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	l.Bind(ctx)
	w.wire.hold(t, joinGroup)
	b := coordinator(t, l)
	join := async(func() error { _, err := b.JoinGroup(&sarama.JoinGroupRequest{}); return err })
	eventually(t, "the join is sent", func() bool { return w.wire.count(joinGroup) == 1 })

	commit, err := l.Commit(t.Context(), commitRequest(w.conf))
	if err != nil || commit.Errors["orders"][0] != sarama.ErrIllegalGeneration {
		t.Errorf("commit: %+v, %v", commit, err)
	}
	beat, err := l.Heartbeat(t.Context(), &sarama.HeartbeatRequest{GroupId: group})
	if err != nil || beat.Err != sarama.ErrRebalanceInProgress {
		t.Errorf("heartbeat: %+v, %v", beat, err)
	}
	req := sarama.NewOffsetFetchRequest(w.conf.Version, group, map[string][]int32{"orders": {0}})
	fetched, err := l.FetchOffsets(t.Context(), req)
	if err != nil || fetched.GetBlock("orders", 0).Offset != 42 {
		t.Errorf("fetched offsets: %+v, %v", fetched, err)
	}
	cancel()
	_ = wait(t, "join", join)
}

// TestGivingUpBehindAnotherCaller: whoever waits for his turn goes when his context ends, and the request that is in flight is not
// ended for it.
func TestGivingUpBehindAnotherCaller(t *testing.T) {
	w := newWorld(t)
	l := w.link(t, nil)
	if _, err := l.Heartbeat(t.Context(), &sarama.HeartbeatRequest{}); err != nil {
		t.Fatal(err)
	}
	dials := len(w.wire.dials())
	release := w.wire.hold(t, offsetCommit)
	commit := async(func() error { _, err := l.Commit(t.Context(), commitRequest(w.conf)); return err })
	eventually(t, "the commit is sent", func() bool { return w.wire.count(offsetCommit) == 1 })

	ctx, cancel := context.WithCancel(t.Context())
	beat := async(func() error { _, err := l.Heartbeat(ctx, &sarama.HeartbeatRequest{}); return err })
	eventually(t, "the heartbeat waits for its turn", func() bool { return inFunction("link.(*seat).take") > 0 })
	cancel()
	wantErr(t, wait(t, "heartbeat", beat), context.Canceled)

	time.AfterFunc(time.Second, release) // longer than a caller who has gone is waited for
	if err := wait(t, "commit", commit); err != nil {
		t.Errorf("the commit in flight was ended: %v", err)
	}
	if now := len(w.wire.dials()); now != dials {
		t.Errorf("%d dials more", now-dials)
	}
}

// TestGivingUpInFlight: the caller goes at once; the connection is closed only if no answer comes.
func TestGivingUpInFlight(t *testing.T) {
	for name, answered := range map[string]bool{"answered": true, "silent": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			l := w.link(t, func(o *link.Options) { o.Short = time.Hour })
			if _, err := l.Heartbeat(t.Context(), &sarama.HeartbeatRequest{}); err != nil {
				t.Fatal(err)
			}
			dials := len(w.wire.dials())
			release := w.wire.hold(t, offsetCommit)
			defer release()
			ctx, cancel := context.WithCancel(t.Context())
			commit := async(func() error { _, err := l.Commit(ctx, commitRequest(w.conf)); return err })
			eventually(t, "the commit is sent", func() bool { return w.wire.count(offsetCommit) == 1 })
			cancel()
			wantErr(t, wait(t, "commit", commit), context.Canceled)
			if answered {
				release()
			}
			beat := async(func() error { _, err := l.Heartbeat(t.Context(), &sarama.HeartbeatRequest{}); return err })
			if err := wait(t, "heartbeat", beat); err != nil {
				t.Fatal(err)
			}
			if redialled := len(w.wire.dials()) > dials; redialled == answered {
				t.Errorf("redialled: %v", redialled)
			}
			if reset := w.wire.reset() > 0; reset == answered {
				t.Errorf("what was not sent yet is taken back: %v", reset)
			}
		})
	}
}

// TestNoAnswerDropsTheConnection: the caller gets the error, once, and the next call a new connection.
func TestNoAnswerDropsTheConnection(t *testing.T) {
	w := newWorld(t)
	l := w.link(t, func(o *link.Options) { o.Short = 200 * time.Millisecond })
	w.wire.hold(t, offsetCommit)
	if _, err := l.Commit(t.Context(), commitRequest(w.conf)); err == nil {
		t.Fatal("no error")
	}
	if n := w.wire.count(offsetCommit); n != 1 {
		t.Errorf("sent %d times", n)
	}
	if n := w.wire.reset(); n != 1 {
		t.Errorf("closed with %d resets: a system that goes on sending makes a late commit of it", n)
	}
	if _, err := l.Commit(t.Context(), commitRequest(w.conf)); err != nil {
		t.Fatal(err)
	}
}

// TestUnsendableRequestKeepsTheConnection: what cannot be encoded says nothing about the connection.
func TestUnsendableRequestKeepsTheConnection(t *testing.T) {
	w := newWorld(t)
	l := w.link(t, nil)
	if _, err := l.Heartbeat(t.Context(), &sarama.HeartbeatRequest{}); err != nil {
		t.Fatal(err)
	}
	dials := len(w.wire.dials())
	if _, err := l.Commit(t.Context(), &sarama.OffsetCommitRequest{Version: 99}); err == nil {
		t.Fatal("no error")
	}
	if _, err := l.Heartbeat(t.Context(), &sarama.HeartbeatRequest{}); err != nil {
		t.Fatal(err)
	}
	if now := len(w.wire.dials()); now != dials {
		t.Errorf("%d dials more", now-dials)
	}
}

// TestHammer: sockets that break at random under many callers, with every method in use. Nothing hangs, nothing races, and all of it
// works again afterwards.
func TestHammer(t *testing.T) {
	w := newWorld(t)
	l := w.link(t, func(o *link.Options) { o.Short, o.Long = 300*time.Millisecond, 300*time.Millisecond })
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	loop := func(f func(ctx context.Context)) {
		// Ends with ctx, once f returns.
		wg.Go(func() {
			for ctx.Err() == nil {
				f(ctx)
			}
		})
	}
	repeat := func(f func()) { loop(func(context.Context) { f() }) }
	for range 3 {
		loop(func(ctx context.Context) { _, _ = l.Commit(ctx, commitRequest(w.conf)) })
		loop(func(ctx context.Context) {
			brief, cancel := context.WithTimeout(ctx, time.Millisecond)
			defer cancel()
			_, _ = l.Heartbeat(brief, &sarama.HeartbeatRequest{})
		})
		repeat(func() {
			b, err := l.Coordinator(group)
			if err != nil {
				return
			}
			if _, err := b.Heartbeat(&sarama.HeartbeatRequest{}); err != nil {
				_ = b.Close()
			}
		})
	}
	repeat(func() { _ = l.RefreshCoordinator(group) })
	repeat(func() { _ = l.RefreshMetadata("orders", "gone") })
	repeat(func() { _, _ = l.Partitions("gone") })
	loop(func(ctx context.Context) {
		brief, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
		defer cancel()
		defer l.Bind(brief)()
		<-brief.Done()
	})
	loop(func(ctx context.Context) {
		_ = sleepFor(ctx, 20*time.Millisecond)
		w.wire.breakAll()
	})
	done := async(func() error { wg.Wait(); return nil })
	_ = wait(t, "the callers", done)

	// A socket that broke is noticed at its next use, so the first request may still fail.
	l.Bind(t.Context())
	eventually(t, "sarama's requests work", func() bool {
		b, err := l.Coordinator(group)
		if err == nil {
			_, err = b.Heartbeat(&sarama.HeartbeatRequest{})
		}
		return err == nil
	})
	eventually(t, "ours work", func() bool { _, err := l.Commit(t.Context(), commitRequest(w.conf)); return err == nil })
}

func sleepFor(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

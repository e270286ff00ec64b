package link_test

import (
	"context"
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/link"
)

// TestASyncIsReadOffTheWire: in each version that sarama writes.
func TestASyncIsReadOffTheWire(t *testing.T) {
	instance, protocol := "i-1", "sticky"
	for version := range int16(6) {
		w := newWorld(t)
		w.conf.ClientID = "a-client"
		l := w.link(t, nil)
		req := &sarama.SyncGroupRequest{Version: version, GroupId: group, GenerationId: 7, MemberId: "m-1"}
		if version >= 3 {
			req.GroupInstanceId = &instance
		}
		if version >= 5 {
			req.ProtocolType, req.ProtocolName = &protocol, &protocol
		}
		if _, err := coordinator(t, l).SyncGroup(req); err != nil {
			t.Fatal(err)
		}
		if s := l.LastSync(); s.MemberID != "m-1" || s.Generation != 7 {
			t.Errorf("version %d: member %q, generation %d, want m-1 and 7", version, s.MemberID, s.Generation)
		}
	}
}

// TestASyncThatCannotBeReadSaysNothing: never half of it.
func TestASyncThatCannotBeReadSaysNothing(t *testing.T) {
	classic := "\x00\x00\x00\x00\x00\x0e\x00\x03\x00\x00\x00\x01\x00\x01c\x00\x02gr\x00\x00\x00\x07\x00\x03m-1"
	flexible := "\x00\x00\x00\x00\x00\x0e\x00\x05\x00\x00\x00\x01\x00\x01c\x00\x03gr\x00\x00\x00\x07\x04m-1"
	for _, whole := range []string{classic, flexible} {
		if s := link.NewSync([]byte(whole)); s.MemberID != "m-1" || s.Generation != 7 {
			t.Fatalf("%q: %+v", whole, s)
		}
		for n := range whole {
			if s := link.NewSync([]byte(whole[:n])); s.MemberID != "" || s.Generation != 0 || s.Sent.IsZero() {
				t.Errorf("the first %d bytes of %q: %+v", n, whole, s)
			}
		}
	}
	tagged := []byte(flexible)
	tagged[15] = 1
	if s := link.NewSync(tagged); s.MemberID != "" || s.Generation != 0 {
		t.Errorf("with a tag: %+v", s)
	}
}

// TestASyncIsOutUntilItsAnswer: or until its connection is gone.
func TestASyncIsOutUntilItsAnswer(t *testing.T) {
	for name, end := range map[string]func(w *world, release func()){
		"answered": func(_ *world, release func()) { release() },
		"broken":   func(w *world, _ func()) { w.wire.breakAll() },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			l := w.link(t, nil)
			b := coordinator(t, l)
			if l.LastSync().Out {
				t.Error("out before it was sent")
			}
			release := w.wire.hold(t, syncGroup)
			done := async(func() error { _, err := b.SyncGroup(&sarama.SyncGroupRequest{}); return err })
			eventually(t, "the sync is out", func() bool { return l.LastSync().Out })
			end(w, release)
			_ = wait(t, "sync", done)
			if l.LastSync().Out {
				t.Error("still out")
			}
		})
	}
}

// TestDescribeTellsTheStateOfAGroup: also while a join is out on the other connection.
func TestDescribeTellsTheStateOfAGroup(t *testing.T) {
	w := newWorld(t)
	w.hang("JoinGroupRequest")
	w.answers["DescribeGroupsRequest"] = sarama.NewMockDescribeGroupsResponse(t).AddGroupDescription(group, &sarama.GroupDescription{
		GroupId: group, State: "CompletingRebalance",
	})
	w.answer()
	l := w.link(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	l.Bind(ctx)
	join := joining(t, w, l)
	resp, err := l.Describe(t.Context(), &sarama.DescribeGroupsRequest{Version: 5, Groups: []string{group}})
	if err != nil || len(resp.Groups) != 1 || resp.Groups[0].State != "CompletingRebalance" {
		t.Errorf("answered %+v, %v", resp, err)
	}
	cancel()
	if err := wait(t, "join", join); err == nil {
		t.Error("the join succeeded")
	}
}

package ownership_test

import (
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// short is the session and the rebalance timeout where a test has to wait until one of them is over.
const short = 6 * time.Second

// remove takes members out of the group, as an administrator does.
func remove(t *testing.T, g *kit.Group, members ...sarama.MemberIdentity) {
	t.Helper()
	b := coordinator(t, g, newWire())
	defer b.Close()
	resp, err := b.LeaveGroup(&sarama.LeaveGroupRequest{Version: 4, GroupId: g.Name, Members: members})
	must(t, err)
	must(t, kerror(resp.Err))
}

// deleteGroup deletes a group whose members are gone, with all commits.
func deleteGroup(t *testing.T, g *kit.Group) {
	t.Helper()
	g.Until("the group is empty", func() bool {
		d, err := g.Broker.Group(g.Name)
		return err == nil && d.State == "Empty"
	})
	must(t, g.Broker.DeleteGroup(g.Name))
}

// led starts a group with a rival that leads it, and a member of ours, which has got all partitions and runs the first task.
func led(t *testing.T, g *kit.Group, how terms, work handler.Func, change ...func(*consumer.Config)) (r *rival, a *kit.Member) {
	t.Helper()
	r = newRival(t, g, "rival", how)
	r.join()
	r.give(r.id)
	a = g.Start("a", work, change...)
	r.awaitCall()
	r.join()
	r.give(r.other())
	g.UntilSeen(1, kit.Started, kit.By("a"))
	g.UntilSeen(1, kit.Committed, kit.By("a"), kit.AtOffset(0)) // its stamp
	return r, a
}

// wantRivals fails the test when the commit of the first partition is not the rival's any more: the first message is done.
func wantRivals(t *testing.T, g *kit.Group) {
	t.Helper()
	o, text, err := g.Broker.Committed(g.Name, g.Topic, 0)
	must(t, err)
	if o != 1 || text != rivals {
		g.Errorf("committed is %d with %q, want 1 and what the rival wrote", o, text)
	}
}

// ledByOthers is a group whose members offer what rivals do, which know nothing of ours.
func ledByOthers(t *testing.T, s kit.Setting, partitions int32) *kit.Group {
	t.Helper()
	g := s.Group(t, partitions)
	g.Sticky = true
	return g
}

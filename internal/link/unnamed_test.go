package link_test

import (
	"testing"

	"github.com/IBM/sarama"
)

// A member's first join asks for a member id: in each version that sarama writes, but for the last, which its mock does not know.
func TestAFirstJoinIsReadOffTheWire(t *testing.T) {
	instance := "i-1"
	for version := range int16(8) {
		for _, id := range []string{"", "m-1"} {
			w := newWorld(t)
			w.conf.ClientID = "a-client"
			l := w.link(t, nil)
			req := &sarama.JoinGroupRequest{Version: version, GroupId: group, MemberId: id, ProtocolType: "consumer", SessionTimeout: 6000, RebalanceTimeout: 9000}
			if version >= 5 {
				req.GroupInstanceId = &instance
			}
			b := coordinator(t, l)
			release := w.wire.hold(t, joinGroup)
			join := async(func() error { _, err := b.JoinGroup(req); return err })
			eventually(t, "the join is out", l.Joining)
			if got := l.JoiningUnnamed(); got != (id == "") {
				t.Errorf("version %d, member id %q: %v", version, id, got)
			}
			release()
			_ = wait(t, "join", join) // whatever the answer
			if l.JoiningUnnamed() {
				t.Errorf("version %d, member id %q: after the answer", version, id)
			}
		}
	}
}

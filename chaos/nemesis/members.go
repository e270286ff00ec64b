package nemesis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/chaos/fleet"
	"github.com/evenkeel-go/evenkeel/chaos/ledger"
)

func leave(ctx context.Context, w *World, s Step) error {
	return w.onProcess(s, func(slot *fleet.Slot) error {
		err := slot.Stop(stopLimit)
		sleep(ctx, s.Lasts)
		return errors.Join(err, slot.Spawn())
	})
}

func rollingRestart(ctx context.Context, w *World, s Step) error {
	return w.during(s, "", func() error {
		var errs []error
		pause := s.Lasts / time.Duration(len(w.Fleet.Slots))
		for _, slot := range w.mortal() {
			if !slot.Take() {
				continue // it has another fault
			}
			errs = append(errs, slot.Stop(stopLimit), slot.Spawn())
			slot.Free()
			sleep(ctx, pause)
		}
		return errors.Join(errs...)
	})
}

func kill(ctx context.Context, w *World, s Step) error {
	return w.onProcess(s, func(slot *fleet.Slot) error { return killSlot(ctx, slot, s) })
}

func killSlot(ctx context.Context, slot *fleet.Slot, s Step) error {
	err := slot.Kill()
	sleep(ctx, s.Lasts)
	return errors.Join(err, slot.Spawn())
}

// killLeader kills the process whose member has planned the group's latest round.
func killLeader(ctx context.Context, w *World, s Step) error {
	group, leader := w.group(s).Name, ""
	for _, e := range w.Book.Events() {
		if e.Kind == ledger.Leads && e.Group == group {
			leader = e.Member
		}
	}
	for _, slot := range w.mortal() {
		if slot.Process() == leader && leader != "" && slot.Take() {
			return w.taken(s, slot, func(slot *fleet.Slot) error { return killSlot(ctx, slot, s) })
		}
	}
	return errBusy
}

func freeze(ctx context.Context, w *World, s Step) error {
	return w.onSlot(s, func(slot *fleet.Slot) error {
		err := slot.Freeze()
		sleep(ctx, s.Lasts)
		return errors.Join(err, slot.Thaw())
	})
}

// expel makes the coordinator forget a member, as kafka-consumer-groups or an operator does.
func expel(_ context.Context, w *World, s Step) error {
	d, err := w.Cluster.Group(w.group(s).Name)
	if err != nil {
		return err
	}
	members := map[string]string{} // by process
	for id, m := range d.Members {
		members[m.ClientId] = id
	}
	for _, slot := range s.turned(w.Fleet.Slots) {
		if id := members[slot.Process()]; id != "" && slot.Take() {
			return w.taken(s, slot, func(*fleet.Slot) error { return w.leaveAs(d.GroupId, id) })
		}
	}
	return errBusy // all are on their way into the group
}

func (w *World) leaveAs(group, member string) error {
	client, err := sarama.NewClient(w.Cluster.Addrs(), w.Cluster.Config())
	if err != nil {
		return err
	}
	defer client.Close()
	coordinator, err := client.Coordinator(group)
	if err != nil {
		return err
	}
	answer, err := coordinator.LeaveGroup(&sarama.LeaveGroupRequest{Version: 4, GroupId: group, Members: []sarama.MemberIdentity{{MemberId: member}}})
	if err == nil && answer.Err != sarama.ErrNoError && answer.Err != sarama.ErrUnknownMemberId { // it has just left
		err = answer.Err
	}
	if err != nil {
		return fmt.Errorf("%s leaves %s: %w", member, group, err)
	}
	return nil
}

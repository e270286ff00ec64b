package link

import (
	"context"
	"errors"
	"time"

	"github.com/IBM/sarama"
)

// Config returns the configuration that the Link was made with, normalised by sarama. It must not be changed.
func (l *Link) Config() *sarama.Config { return l.conf }

// Coordinator returns the Broker of the group connection for the Link's own group, connected and ready, and sarama's own for any
// other group.
//
// It looks for the coordinator and dials for at most [Options].Patience, with growing pauses, returns at once when the bound context
// ends ([Link.Bind]), and returns a refusal (wrong credentials, missing rights, an untrusted certificate) at once; the next try after
// one waits up to 5 s first. The Broker is good for one connection: after an error it stays safe to call, answers
// sarama.ErrNotConnected, and a new one is to be had here.
func (l *Link) Coordinator(group string) (*sarama.Broker, error) {
	if group != l.id {
		return l.Client.Coordinator(group)
	}
	ln, err := l.group.open(l.context())
	if err != nil {
		return nil, l.closedOr(err)
	}
	return ln.broker, nil
}

// JoinWithin sets how long the answer to a join or sync may take, in place of [Options].Long, on connections that are made from now on.
func (l *Link) JoinWithin(long time.Duration) { l.group.long.Store(int64(long)) }

// Left reports whether the coordinator has answered a LeaveGroup on the group connection. Like [Link.Joining] it is read off the wire:
// an error of sarama's Close may be any error of the group that nobody had received before.
func (l *Link) Left() bool {
	ln := l.group.current()
	return ln != nil && ln.left()
}

// Joining reports whether a JoinGroup is out on the group connection: sent, not answered, and the connection still up. It is read off
// the wire, for nothing else tells when sarama's join begins and ends: a try that never reaches the coordinator is none. It does not
// block.
func (l *Link) Joining() bool {
	ln := l.group.current()
	return ln != nil && ln.waitsFor(keyJoinGroup)
}

// JoiningUnnamed is [Link.Joining] for the first join of a member: it asks the coordinator for a member id, which nobody knows before the
// answer. A member that goes away in this moment cannot leave, and the group waits for it until its session timeout is over.
func (l *Link) JoiningUnnamed() bool {
	ln := l.group.current()
	return ln != nil && ln.waitsForName()
}

// LastSync returns the last SyncGroup on the present group connection, zero for none: of which round, when it was sent, and when it was
// answered. The broker's clocks of the member start no earlier than it was sent.
func (l *Link) LastSync() (s Sync) {
	if ln := l.group.current(); ln != nil {
		s = ln.lastSync()
	}
	return s
}

// RefreshCoordinator looks the coordinator of the Link's own group up, whichever broker answers first, once for all who ask at the
// same time. When it has moved, both connections are replaced at their next use. It gives up after [Options].Patience or when the
// bound context ends. Other groups go to sarama's own client.
func (l *Link) RefreshCoordinator(group string) error {
	if group != l.id {
		return l.Client.RefreshCoordinator(group)
	}
	return l.Locate(l.context())
}

// Locate is [Link.RefreshCoordinator] for the Link's own group, and ends with ctx instead of the bound context.
func (l *Link) Locate(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, l.opt.Patience)
	defer cancel()
	_, err := l.finder.locate(ctx, true)
	return l.closedOr(err)
}

// RefreshMetadata refreshes what is known about topics, of all topics when none is named. A topic that does not exist is no error:
// it is left out, and [Options].OnMissing tells of it. An invalid name, and a topic that may not be read, are errors as in sarama.
//
// It returns when the bound context ends; sarama's own refresh then runs out in the background.
func (l *Link) RefreshMetadata(topics ...string) error {
	l.topics.ask(topics...)
	err := l.refresh(l.context(), topics, false)
	if err == nil {
		l.topics.freshen(topics)
	}
	return l.closedOr(err)
}

// Subscribe says which topics the member consumes. Each periodic refresh looks at them; others only as long as somebody has
// asked for them within the last three, which is what the balancer of a group's leader does for the topics of all members. A change
// of the topics makes the Link forget all others at once.
func (l *Link) Subscribe(topics ...string) { l.topics.subscribe(topics) }

// Missing returns the topics that did not exist when the cluster was last asked for them, sorted. It does not block.
func (l *Link) Missing() []string { return l.topics.missing() }

// IsMissing reports whether topic is one of [Link.Missing].
func (l *Link) IsMissing(topic string) bool { return l.topics.state(topic) == missing }

// Partitions returns the partition IDs of a topic, in order. It asks the cluster, unless that was done since the last call; where no
// broker answers it returns those that were there before. For a topic that does not exist it returns an empty list and no error: an
// error would fail the join of a group's leader, again and again, for the topic of any one member.
func (l *Link) Partitions(topic string) ([]int32, error) {
	ids, err := l.partitions(l.context(), topic, l.Client.Partitions)
	return ids, l.closedOr(err)
}

// WritablePartitions is [Link.Partitions] for the partitions that have a leader.
func (l *Link) WritablePartitions(topic string) ([]int32, error) {
	ids, err := l.partitions(l.context(), topic, l.Client.WritablePartitions)
	return ids, l.closedOr(err)
}

// GetOffset is sarama's own, and returns when the bound context ends.
func (l *Link) GetOffset(topic string, partition int32, timestamp int64) (int64, error) {
	return value(l.context(), l, func() (int64, error) { return l.Client.GetOffset(topic, partition, timestamp) })
}

// LeaderAndEpoch is sarama's own, and returns when the bound context ends. A topic that is missing has no leader: the one that sarama
// remembers would be asked for the next message of it, and may have another topic of the name by then.
func (l *Link) LeaderAndEpoch(topic string, partition int32) (*sarama.Broker, int32, error) {
	if l.IsMissing(topic) {
		return nil, -1, sarama.ErrUnknownTopicOrPartition
	}
	type leader struct {
		broker *sarama.Broker
		epoch  int32
	}
	found, err := value(l.context(), l, func() (leader, error) {
		broker, epoch, err := l.Client.LeaderAndEpoch(topic, partition)
		return leader{broker, epoch}, err
	})
	if err != nil {
		return nil, -1, err
	}
	return found.broker, found.epoch, nil
}

// Closed reports whether Close was called on the Link or on the client below it.
func (l *Link) Closed() bool { return l.life.ctx.Err() != nil || l.Client.Closed() }

// closedOr turns any error of a Link that was closed into sarama.ErrClosedClient, which sarama knows.
func (l *Link) closedOr(err error) error {
	if err != nil && l.life.ctx.Err() != nil && !errors.Is(err, sarama.ErrClosedClient) {
		return sarama.ErrClosedClient
	}
	return err
}

// until is [value] for what has none.
func (l *Link) until(ctx context.Context, f func() error) error {
	_, err := value(ctx, l, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

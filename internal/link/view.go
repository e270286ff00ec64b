package link

import (
	"github.com/IBM/sarama"
)

// view is what one broker said about some topics.
type view struct {
	topics map[string]*sarama.TopicMetadata
	addrs  map[int32]string // of the brokers
}

func newView(resp *sarama.MetadataResponse) *view {
	v := &view{topics: make(map[string]*sarama.TopicMetadata), addrs: make(map[int32]string)}
	for _, topic := range resp.Topics {
		v.topics[topic.Name] = topic
	}
	for _, b := range resp.Brokers {
		v.addrs[b.ID()] = b.Addr()
	}
	return v
}

func (v *view) missing(topic string) bool {
	seen := v.topics[topic]
	return seen != nil && seen.Err == sarama.ErrUnknownTopicOrPartition
}

// id is what tells a topic from an earlier one of the same name (KIP-516): zero where the broker or the version is older than 2.8.
func (v *view) id(topic string) sarama.Uuid {
	if seen := v.topics[topic]; seen != nil {
		return seen.Uuid
	}
	return sarama.Uuid{}
}

// knownTo reports whether client knows all of a topic as it was seen: its partitions, their leaders, and where those are. It compares
// rather than remembers what was refreshed, for the client's own refresh may have got the answer of a broker that lags behind.
//
// A client that was told about the topic and has lost a part of it asks the cluster for that part.
func (v *view) knownTo(client sarama.Client, topic string) bool {
	seen := v.topics[topic]
	if seen == nil || seen.Err != sarama.ErrNoError {
		return false
	}
	ids, err := client.Partitions(topic)
	if err != nil || len(ids) != len(seen.Partitions) {
		return false
	}
	for _, p := range seen.Partitions {
		if !v.leaderKnownTo(client, topic, p) {
			return false
		}
	}
	return true
}

func (v *view) leaderKnownTo(client sarama.Client, topic string, p *sarama.PartitionMetadata) bool {
	if p.Leader < 0 || p.Err == sarama.ErrLeaderNotAvailable {
		return false
	}
	leader, epoch, err := client.LeaderAndEpoch(topic, p.ID)
	return err == nil && epoch == p.LeaderEpoch && leader.Addr() == v.addrs[p.Leader]
}

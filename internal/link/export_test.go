package link

import "github.com/IBM/sarama"

// Seen returns what is done when a broker has told of a topic with an identity: sarama's mock broker gives topics none.
func Seen(o Options) func(topic string, id sarama.Uuid) {
	topics := newTopics(0, o.tell)
	return func(topic string, id sarama.Uuid) {
		topics.note(topic, newView(&sarama.MetadataResponse{Topics: []*sarama.TopicMetadata{{Name: topic, Uuid: id}}}))
		topics.publish()
	}
}

// NewSync reads a request.
func NewSync(request []byte) *Sync { return newSync(request) }

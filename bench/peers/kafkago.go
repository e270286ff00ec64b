package peers

import (
	"context"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
)

// KafkaGo is a reader of segmentio's library, whose messages go to a goroutine for each partition. Nothing tells it of a rebalance.
type KafkaGo struct{}

// Name implements Peer.
func (KafkaGo) Name() string { return "kafka_go" }

// Says implements Peer.
func (KafkaGo) Says() string {
	return "one Reader of segmentio/kafka-go, FetchMessage and CommitMessages, with a goroutine a partition behind it (its README has one for all); " +
		"range assignment; commits a message, or each second where tasks take less than 20 ms"
}

// Orders implements Peer.
func (KafkaGo) Orders() []Order { return []Order{ByPartition} }

// Run implements Peer.
func (KafkaGo) Run(ctx context.Context, s Settings, work Work) error {
	reader := kafka.NewReader(kafkaGoConfig(s))
	var lanes sync.WaitGroup
	byPartition := map[int]chan kafka.Message{}
	for {
		m, err := reader.FetchMessage(ctx)
		if err != nil { // ctx has ended: other errors are tried again inside
			break
		}
		lane := byPartition[m.Partition]
		if lane == nil {
			lane = make(chan kafka.Message, 1) // one that waits: the loop stands still when it has no room
			byPartition[m.Partition] = lane
			lanes.Go(func() { kafkaGoLane(reader, lane, work) }) // ends when the lane is closed
		}
		select {
		case lane <- m:
		case <-ctx.Done():
		}
	}
	for _, lane := range byPartition {
		close(lane)
	}
	lanes.Wait()
	return reader.Close()
}

func kafkaGoConfig(s Settings) kafka.ReaderConfig {
	c := kafka.ReaderConfig{Brokers: s.Brokers, GroupID: s.Group, Topic: s.Topic, MaxBytes: 10e6}
	if s.Task < Short {
		c.CommitInterval = time.Second
	} else {
		c.QueueCapacity = 1 // all partitions share the queue: those behind a long task would wait for it
	}
	if s.Session > 0 {
		c.SessionTimeout, c.HeartbeatInterval = s.Session, s.Session/3
	}
	return c
}

func kafkaGoLane(reader *kafka.Reader, lane <-chan kafka.Message, work Work) {
	for m := range lane {
		_ = work(context.Background(), Message{int32(m.Partition), m.Offset}) // a context that never ends: it does not fail
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		_ = reader.CommitMessages(ctx, m)
		cancel()
	}
}

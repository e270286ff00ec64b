package brokers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// Feed sends messages to the topics of all groups, each until it is acknowledged by all replicas. A message may come twice where the
// answer was lost: both are in the log, and both have to be handled.
type Feed struct {
	book     *ledger.Book
	producer sarama.SyncProducer
	stop     context.CancelFunc
	senders  sync.WaitGroup
	closing  sync.Once

	mu   sync.Mutex
	sent int
}

// keys is how many keys the messages of a topic have.
const keys = 24

// Start sends to each topic that many messages a second, until Stop.
func Start(book *ledger.Book, b kafkatest.Broker, perSecond float64) (*Feed, error) {
	conf := b.Config()
	conf.ClientID = "feed"
	conf.Producer.RequiredAcks = sarama.WaitForAll
	conf.Producer.Return.Successes = true
	conf.Producer.Retry.Max = 20
	conf.Producer.Partitioner = sarama.NewHashPartitioner
	conf.Metadata.RefreshFrequency = 2 * time.Second
	producer, err := sarama.NewSyncProducer(b.Addrs(), conf)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	f := &Feed{book: book, producer: producer, stop: stop}
	for i, g := range book.Header.Groups {
		r := rand.New(rand.NewPCG(book.Header.Seed, uint64(i)))
		f.senders.Go(func() { f.send(ctx, g.Name, r, perSecond) }) // ends with Stop
	}
	return f, nil
}

func (f *Feed) send(ctx context.Context, topic string, r *rand.Rand, perSecond float64) {
	for ctx.Err() == nil {
		m := &sarama.ProducerMessage{Topic: topic, Value: sarama.StringEncoder("work"), Key: sarama.StringEncoder(fmt.Sprint("k", r.IntN(keys)))}
		if r.IntN(10) == 0 {
			m.Key = nil
		}
		f.deliver(ctx, m)
		pause := time.Duration(r.ExpFloat64() * float64(time.Second) / perSecond)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// deliver tries until the message is acknowledged or ctx ends.
func (f *Feed) deliver(ctx context.Context, m *sarama.ProducerMessage) {
	for ctx.Err() == nil {
		again := *m
		if partition, offset, err := f.producer.SendMessage(&again); err == nil {
			f.book.Add(ledger.Event{Kind: ledger.Sent, Group: m.Topic, Partition: partition, Offset: offset})
			f.mu.Lock()
			f.sent++
			f.mu.Unlock()
			return
		}
	}
}

// Stop ends the sending, and returns how many messages were acknowledged. Calling it again changes nothing.
func (f *Feed) Stop() int {
	f.stop()
	f.senders.Wait()
	f.closing.Do(func() { _ = f.producer.Close() }) // a second call would panic
	return f.sent
}

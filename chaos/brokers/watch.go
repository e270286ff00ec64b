package brokers

import (
	"context"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

const (
	// glance is how often the cluster is looked at, and late how long an answer may take before it counts as a fault.
	glance = 500 * time.Millisecond
	late   = 2 * time.Second
)

// Watch writes down what the cluster does by itself, as on a machine that has too little time for it: a group's coordinator moves, or
// nobody says which it is.
type Watch struct {
	book    *ledger.Book
	broker  kafkatest.Broker
	stop    context.CancelFunc
	looking sync.WaitGroup

	coordinators map[string]int32
	begun        int // number of the fault that goes on, 0 for none
	made         int
}

// byItself numbers the faults of the cluster's own below all of a schedule.
const byItself = -1

// StartWatch looks until Stop.
func StartWatch(book *ledger.Book, b kafkatest.Broker) *Watch {
	ctx, stop := context.WithCancel(context.Background())
	w := &Watch{book: book, broker: b, stop: stop, coordinators: map[string]int32{}}
	w.looking.Go(func() { w.look(ctx) }) // ends with Stop
	return w
}

// Stop ends the looking.
func (w *Watch) Stop() error {
	w.stop()
	w.looking.Wait()
	w.calm()
	return nil
}

func (w *Watch) look(ctx context.Context) {
	conf := w.broker.Config()
	conf.ClientID = "watch"
	conf.Net.DialTimeout, conf.Net.ReadTimeout = late, late
	conf.Metadata.Retry.Max, conf.Metadata.Full = 0, false
	for ctx.Err() == nil {
		if w.whole(conf) {
			w.calm()
		} else {
			w.fault()
		}
		select {
		case <-ctx.Done():
		case <-time.After(glance):
		}
	}
}

// whole says that each group has the coordinator that it had at the last look.
func (w *Watch) whole(conf *sarama.Config) bool {
	client, err := sarama.NewClient(w.broker.Addrs(), conf)
	if err != nil {
		return false
	}
	defer client.Close()
	same := true
	for _, g := range w.book.Header.Groups {
		c, err := client.Coordinator(g.Name)
		if err != nil {
			return false
		}
		before, known := w.coordinators[g.Name]
		w.coordinators[g.Name] = c.ID()
		same = same && (!known || before == c.ID())
	}
	return same
}

func (w *Watch) fault() {
	if w.begun != 0 {
		return
	}
	w.made++
	w.begun = byItself * w.made
	w.book.Add(w.event(ledger.Fault))
}

func (w *Watch) calm() {
	if w.begun == 0 {
		return
	}
	w.book.Add(w.event(ledger.Calm))
	w.begun = 0
}

func (w *Watch) event(k ledger.Kind) ledger.Event {
	return ledger.Event{Kind: k, Fault: w.begun, Text: "coordinator", Class: ledger.OfCluster}
}

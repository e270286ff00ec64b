package brokers

import (
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// mocks are two brokers, one of which says that it coordinates the group.
type mocks struct {
	kafkatest.Broker
	t    *testing.T
	here [2]*sarama.MockBroker
}

func newMocks(t *testing.T) *mocks {
	m := &mocks{t: t}
	for i := range m.here {
		m.here[i] = sarama.NewMockBroker(t, int32(i+1))
		t.Cleanup(m.here[i].Close)
	}
	m.coordinator(0)
	return m
}

// coordinator makes one of them say that it is, or none of them for -1.
func (m *mocks) coordinator(n int) {
	find := sarama.NewMockFindCoordinatorResponse(m.t)
	if n < 0 {
		find.SetError(sarama.CoordinatorGroup, "g", sarama.ErrConsumerCoordinatorNotAvailable)
	} else {
		find.SetCoordinator(sarama.CoordinatorGroup, "g", m.here[n])
	}
	metadata := sarama.NewMockMetadataResponse(m.t)
	for _, b := range m.here {
		metadata.SetBroker(b.Addr(), b.BrokerID())
	}
	for _, b := range m.here {
		b.SetHandlerByMap(map[string]sarama.MockResponse{"MetadataRequest": metadata, "FindCoordinatorRequest": find})
	}
}

func (m *mocks) Addrs() []string { return []string{m.here[0].Addr()} }

func (m *mocks) Config() *sarama.Config {
	conf := sarama.NewConfig()
	conf.ApiVersionsRequest = false
	return conf
}

// A coordinator that moves, or that nobody names, is a fault of the cluster's own, until all is as it was at the last look.
func TestWhatTheClusterDoesByItselfIsAFault(t *testing.T) {
	m := newMocks(t)
	book := ledger.NewBook(ledger.Header{Groups: []ledger.Group{{Name: "g"}}}, nil)
	w := StartWatch(book, m)
	until := func(events int) {
		t.Helper()
		for len(book.Events()) < events {
			time.Sleep(10 * time.Millisecond)
		}
	}
	time.Sleep(2 * glance) // for nothing to happen
	if e := book.Events(); len(e) > 0 {
		t.Errorf("a cluster that is well has %v", e)
	}
	m.coordinator(1)
	until(2) // a fault, and its end
	m.coordinator(-1)
	until(3)
	if err := w.Stop(); err != nil {
		t.Error(err)
	}
	events := book.Events()
	var kinds []ledger.Kind
	for i, e := range events {
		kinds = append(kinds, e.Kind)
		if want := -(i/2 + 1); e.Fault != want || e.Class != ledger.OfCluster || e.Text != "coordinator" {
			t.Errorf("%+v, want number %d", e, want)
		}
	}
	want := []ledger.Kind{ledger.Fault, ledger.Calm, ledger.Fault, ledger.Calm}
	for i := range want {
		if len(kinds) != len(want) || kinds[i] != want[i] {
			t.Fatalf("%v, want %v", kinds, want)
		}
	}
}

package link_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/link"
)

type told struct {
	mu  sync.Mutex
	all []string
}

func (n *told) tell(topic string, missing bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, fmt.Sprint(topic, " ", missing))
}

func (n *told) list() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.all)
}

// B33, E21: a topic that does not exist is left out; the others are refreshed.
func TestMissingTopicStopsNobody(t *testing.T) {
	w, news := newWorld(t), &told{}
	l := w.link(t, func(o *link.Options) { o.OnMissing = news.tell })
	for range 3 {
		if err := l.RefreshMetadata("orders", "gone"); err != nil {
			t.Fatal(err)
		}
	}
	wantPartitions(t, l, "orders", 0, 1)
	wantPartitions(t, l, "gone")
	if want := []string{"gone true"}; !slices.Equal(news.list(), want) {
		t.Errorf("told %v, want %v", news.list(), want)
	}
	if n := w.wire.count(metadata); n > 10 {
		t.Errorf("%d metadata requests: sarama's retries are in them", n)
	}
}

// TestPartitionsOfATopicNeverAskedFor: sarama's client alone would retry for seconds and then fail.
func TestPartitionsOfATopicNeverAskedFor(t *testing.T) {
	l := newWorld(t).link(t, nil)
	wantPartitions(t, l, "orders", 0, 1)
	wantPartitions(t, l, "gone")
}

// B41: sarama looks for added partitions by asking for those of one topic after the other, without a refresh.
func TestAddedPartitionsAreSeenWhenTheyAreAskedFor(t *testing.T) {
	w := newWorld(t)
	w.conf.Metadata.RefreshFrequency = 0 // nobody else looks
	w.answers["MetadataRequest"] = w.topics("orders", "audit")
	w.answer()
	l := w.link(t, nil)
	refresh(t, l)
	wantPartitions(t, l, "orders", 0, 1)
	wantPartitions(t, l, "audit", 0, 1)

	w.answers["MetadataRequest"] = w.topics("orders", "audit").SetLeader("orders", 2, w.broker.BrokerID())
	w.answer()
	before := w.wire.count(metadata)
	wantPartitions(t, l, "orders", 0, 1, 2)
	wantPartitions(t, l, "audit", 0, 1)
	if n := w.wire.count(metadata) - before; n != 2 {
		t.Errorf("%d metadata requests, want one question and one refresh of what changed", n)
	}
}

// TestPartitionsAreThoseOfBeforeWhenNobodyAnswers: else the leader's look for added ones would end its session.
func TestPartitionsAreThoseOfBeforeWhenNobodyAnswers(t *testing.T) {
	w := newWorld(t)
	l := w.link(t, func(o *link.Options) { o.Short, o.Patience = 50*time.Millisecond, 50*time.Millisecond })
	wantPartitions(t, l, "orders", 0, 1)
	w.hang("MetadataRequest")
	wantPartitions(t, l, "orders", 0, 1)
}

// B33: gone, back, each told once, and partitions as the cluster has them.
func TestTopicGoesAndComesBack(t *testing.T) {
	w, news := newWorld(t), &told{}
	w.answers["MetadataRequest"] = w.topics("orders", "audit")
	w.answer()
	l := w.link(t, func(o *link.Options) { o.OnMissing = news.tell })
	refresh(t, l)
	wantPartitions(t, l, "audit", 0, 1)

	w.answers["MetadataRequest"] = w.topics("orders")
	w.answer()
	refresh(t, l)
	refresh(t, l)
	wantPartitions(t, l, "audit")

	w.answers["MetadataRequest"] = w.topics("orders", "audit")
	w.answer()
	wantPartitions(t, l, "audit", 0, 1)
	refresh(t, l)
	if want := []string{"audit true", "audit false"}; !slices.Equal(news.list(), want) {
		t.Errorf("told %v, want %v", news.list(), want)
	}
}

// TestOneAnswerDoesNotTakeATopicAway: a broker that has just started may not know it yet.
func TestOneAnswerDoesNotTakeATopicAway(t *testing.T) {
	w, news := newWorld(t), &told{}
	l := w.link(t, func(o *link.Options) { o.OnMissing = news.tell })
	if err := l.RefreshMetadata("orders"); err != nil {
		t.Fatal(err)
	}
	w.answers["MetadataRequest"] = sarama.NewMockSequence(w.topics(), w.topics("orders"))
	w.answer()
	if err := l.RefreshMetadata("orders"); err != nil {
		t.Fatal(err)
	}
	wantPartitions(t, l, "orders", 0, 1)
	if len(news.list()) > 0 {
		t.Errorf("told %v", news.list())
	}
}

// TestFirstQuestionMayCreateATopic: where the broker creates topics and the member lets it, one answer does not make a new one missing.
func TestFirstQuestionMayCreateATopic(t *testing.T) {
	for create, want := range map[bool][]string{true: nil, false: {"new true"}} {
		w, news := newWorld(t), &told{}
		w.conf.Metadata.AllowAutoTopicCreation = create
		w.answers["MetadataRequest"] = sarama.NewMockSequence(w.topics(), w.topics("new"))
		w.answer()
		l := w.link(t, func(o *link.Options) { o.OnMissing = news.tell })
		if err := l.RefreshMetadata("new"); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(news.list(), want) {
			t.Errorf("creation allowed %v: told %v, want %v", create, news.list(), want)
		}
	}
}

// TestTopicErrorsArePassedOn: a name that is not allowed and a topic that may not be read are errors, as in sarama.
func TestTopicErrorsArePassedOn(t *testing.T) {
	for _, kerr := range []sarama.KError{sarama.ErrInvalidTopic, sarama.ErrTopicAuthorizationFailed} {
		w := newWorld(t)
		w.answers["MetadataRequest"] = w.topics("orders").SetError("bad", kerr)
		w.answer()
		l := w.link(t, nil)
		wantErr(t, l.RefreshMetadata("orders", "bad"), kerr)
	}
	wantErr(t, newWorld(t).link(t, nil).RefreshMetadata("orders", ""), sarama.ErrInvalidTopic)
}

// TestPeriodicRefreshNoticesBothWays: without anybody asking.
func TestPeriodicRefreshNoticesBothWays(t *testing.T) {
	w, news := newWorld(t), &told{}
	w.conf.Metadata.RefreshFrequency = 1e7
	l := w.link(t, func(o *link.Options) { o.OnMissing = news.tell })
	l.Subscribe("orders", "audit")
	refresh(t, l)
	if l.Config().Metadata.RefreshFrequency != 1e7 {
		t.Error("the group must see the configured interval: it looks for new partitions by it")
	}
	w.answers["MetadataRequest"] = w.topics("orders", "audit")
	w.answer()
	eventually(t, "it is back", func() bool { return slices.Equal(news.list(), []string{"audit true", "audit false"}) })
	w.answers["MetadataRequest"] = w.topics("orders")
	w.answer()
	eventually(t, "it is gone", func() bool { return len(news.list()) == 3 })
}

// A topic that nobody wants any more is forgotten, be it missing: that of a pattern that was deleted, or of another member that has gone.
func TestOnlyWantedTopicsAreMissing(t *testing.T) {
	w := newWorld(t)
	w.conf.Metadata.RefreshFrequency = 500 * time.Millisecond
	w.conf.Metadata.AllowAutoTopicCreation = false // a missing topic is named at once
	l := w.link(t, nil)
	l.Subscribe("orders", "gone")
	if err := l.RefreshMetadata("orders", "gone"); err != nil {
		t.Fatal(err)
	}
	wantPartitions(t, l, "other")
	if !l.IsMissing("gone") || !l.IsMissing("other") || l.IsMissing("orders") {
		t.Errorf("missing: %v", l.Missing())
	}
	eventually(t, "what nobody asks for is forgotten", func() bool { return slices.Equal(l.Missing(), []string{"gone"}) })
	wantPartitions(t, l, "other")
	l.Subscribe("orders")
	if len(l.Missing()) > 0 {
		t.Errorf("missing after the topics have changed: %v", l.Missing())
	}
}

// What somebody asks for again and again is not forgotten.
func TestTopicsThatAreAskedForAreRemembered(t *testing.T) {
	w := newWorld(t)
	news := &told{}
	w.conf.Metadata.RefreshFrequency = 500 * time.Millisecond
	l := w.link(t, func(o *link.Options) { o.OnMissing = news.tell })
	for end := time.Now().Add(2500 * time.Millisecond); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		wantPartitions(t, l, "gone")
	}
	if want := []string{"gone true"}; !slices.Equal(news.list(), want) {
		t.Errorf("told %v, want %v", news.list(), want)
	}
}

// TestNewsAreInOrder: two refreshes that meet a topic in different states tell the last state last.
func TestNewsAreInOrder(t *testing.T) {
	w := newWorld(t)
	last, entered, leave := "", make(chan struct{}), make(chan struct{})
	first := sync.OnceFunc(func() { close(entered); <-leave })
	l := w.link(t, func(o *link.Options) {
		o.OnMissing = func(topic string, missing bool) {
			first()
			last = fmt.Sprint(topic, " ", missing) // calls never overlap: no lock
		}
	})
	gone := async(func() error { return l.RefreshMetadata("audit") })
	<-entered
	w.answers["MetadataRequest"] = w.topics("audit")
	w.answer()
	if err := l.RefreshMetadata("audit"); err != nil {
		t.Fatal(err)
	}
	close(leave)
	if err := wait(t, "refresh", gone); err != nil {
		t.Fatal(err)
	}
	if last != "audit false" {
		t.Errorf("last told %q", last)
	}
}

func refresh(t *testing.T, l *link.Link) {
	t.Helper()
	if err := l.RefreshMetadata("orders", "audit"); err != nil {
		t.Fatal(err)
	}
}

func wantPartitions(t *testing.T, l *link.Link, topic string, want ...int32) {
	t.Helper()
	got, err := l.Partitions(topic)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("partitions of %s: %v, want %v", topic, got, want)
	}
	if got == nil {
		t.Errorf("partitions of %s are nil, want an empty list", topic)
	}
}

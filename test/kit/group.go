package kit

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// Group is a consumer group under test, and its topic.
type Group struct {
	*History
	Broker     kafkatest.Broker
	Topic      string
	Name       string // of the group
	Partitions int32
	Input      config.Input // of the plans of members that start later

	// Sticky makes members that start later offer sarama's strategy of the plan, cooperative-sticky or sticky: groups whose leader is foreign.
	Sticky bool

	Order handler.Order // of members that start later, with Slots
	Slots int
	Keys  int   // how many the messages of Produce have, in turn; 0 for messages without a key
	Base  int64 // where the group begins on each partition, for the checks

	t        *testing.T
	mu       sync.Mutex
	produced map[int32]int
}

const (
	// patience is how long a wait goes on before the test has failed. It is no bound of any scenario.
	patience = 60 * time.Second
	glance   = 10 * time.Millisecond
)

// Plan derives from Input.
func (g *Group) Plan() *config.Plan {
	g.t.Helper()
	p, err := g.Input.Plan()
	g.must(err)
	return p
}

// Produce appends n messages to each partition.
func (g *Group) Produce(n int) {
	g.t.Helper()
	for p := range g.Partitions {
		g.ProduceTo(p, n)
	}
}

// ProduceTo appends n messages to one partition.
func (g *Group) ProduceTo(partition int32, n int) {
	g.t.Helper()
	msgs, first := make([]*sarama.ProducerMessage, n), g.number(partition, n)
	for i := range msgs {
		msgs[i] = &sarama.ProducerMessage{Topic: g.Topic, Partition: partition, Key: g.key(first + i), Value: sarama.StringEncoder(strconv.Itoa(i))}
	}
	g.must(g.Broker.Send(msgs...))
}

// ProduceHeavy appends n messages of size bytes to each partition, which a broker hands out a few at a time: it never parts a batch.
func (g *Group) ProduceHeavy(n, size int) {
	g.t.Helper()
	conf := g.Broker.Config()
	conf.Producer.Return.Successes, conf.Producer.Partitioner, conf.Producer.Flush.MaxMessages = true, sarama.NewManualPartitioner, int(g.Partitions)
	// What is sent again on a slow machine comes once all the same: tests wait for the offset after the last message.
	conf.Producer.Idempotent, conf.Producer.RequiredAcks, conf.Net.MaxOpenRequests = true, sarama.WaitForAll, 1
	producer, err := sarama.NewSyncProducer(g.Broker.Addrs(), conf)
	g.must(err)
	defer producer.Close()
	var msgs []*sarama.ProducerMessage
	for i := range n {
		for p := range g.Partitions {
			msgs = append(msgs, &sarama.ProducerMessage{Topic: g.Topic, Partition: p, Key: g.key(i), Value: sarama.ByteEncoder(make([]byte, size))})
		}
	}
	g.must(producer.SendMessages(msgs))
}

// number returns how many messages of a partition were produced before n more.
func (g *Group) number(partition int32, n int) (first int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	first = g.produced[partition]
	g.produced[partition] += n
	return first
}

// key is that of message i of a partition.
func (g *Group) key(i int) sarama.Encoder {
	if g.Keys == 0 {
		return nil
	}
	return sarama.StringEncoder("k" + strconv.Itoa(i%g.Keys))
}

// AtOnce is how many of the first n messages of a partition run at once, in long tasks.
func (g *Group) AtOnce(n int) int {
	switch g.Order {
	case handler.ByKey:
		return min(n, g.Keys)
	case handler.None:
		return n
	default:
		return min(n, 1)
	}
}

// Committed is the group's committed offset, -1 for none.
func (g *Group) Committed(partition int32) int64 {
	g.t.Helper()
	o, _, err := g.Broker.Committed(g.Name, g.Topic, partition)
	g.must(err)
	return o
}

// Grow raises the number of partitions, and returns the time just before.
func (g *Group) Grow(partitions int32) time.Time {
	g.t.Helper()
	begin := g.Note("%d partitions from now on", partitions)
	g.must(g.Broker.AddPartitions(g.Topic, partitions))
	g.Partitions = partitions
	return begin
}

// Until waits for a condition, and fails the test when it takes a minute.
func (g *Group) Until(what string, cond func() bool) {
	g.t.Helper()
	g.UntilWithin(patience, what, cond)
}

// UntilWithin is [Group.Until] for what may take longer, or must not. It returns how long it took.
func (g *Group) UntilWithin(limit time.Duration, what string, cond func() bool) time.Duration {
	g.t.Helper()
	begin := time.Now()
	for !cond() {
		if time.Since(begin) > limit {
			g.Fatalf("gave up after %v waiting until %s", limit, what)
		}
		time.Sleep(glance)
	}
	return time.Since(begin)
}

// UntilSeen waits until n events of a kind match.
func (g *Group) UntilSeen(n int, k Kind, ms ...Match) []Event {
	g.t.Helper()
	g.Until(fmt.Sprintf("%d times %q as asked for", n, k), func() bool { return g.Count(k, ms...) >= n })
	return g.Find(k, ms...)
}

// UntilAllHandled waits until every partition is committed to its end, and checks what was committed on the way: no message without a
// run of it that had succeeded by then, so that nothing is lost, and no offset below one that was committed before.
func (g *Group) UntilAllHandled() {
	g.t.Helper()
	for p := range g.Partitions {
		end, err := g.Broker.EndOffset(g.Topic, p)
		g.must(err)
		if end == 0 {
			continue
		}
		g.untilCommitted(p, end)
		if stored := g.Committed(p); stored != end {
			g.Errorf("partition %d is committed at %d, want %d", p, stored, end)
		}
		g.wantSoundCommits(p)
	}
}

// untilCommitted waits for a member to tell of the commit. One that was killed between the commit and its answer tells nothing: the broker
// is asked now and then.
func (g *Group) untilCommitted(partition int32, end int64) {
	g.t.Helper()
	next := time.Now().Add(time.Second)
	g.Until(fmt.Sprintf("partition %d is committed to its end %d", partition, end), func() bool {
		if g.Count(Committed, OnPartition(partition), AtOffset(end)) > 0 {
			return true
		}
		if time.Now().Before(next) {
			return false
		}
		next = time.Now().Add(time.Second)
		stored, _, err := g.Broker.Committed(g.Name, g.Topic, partition)
		return err == nil && stored == end
	})
}

func (g *Group) wantSoundCommits(partition int32) {
	g.t.Helper()
	succeeded := map[int64]time.Time{}
	for _, e := range g.Find(Returned, OnPartition(partition), Well()) {
		if first, ok := succeeded[e.Offset]; !ok || e.At.Before(first) {
			succeeded[e.Offset] = e.At
		}
	}
	done := g.Base
	for _, e := range g.Find(Committed, OnPartition(partition)) {
		if e.Offset < done {
			g.Errorf("partition %d was committed at %d and then at %d", partition, done, e.Offset)
		}
		for ; done < e.Offset; done++ {
			if at, ok := succeeded[done]; !ok || at.After(e.At) {
				g.Errorf("%d@%d was committed before a run of it had succeeded", partition, done)
			}
		}
	}
}

// WantWithin fails the test when to is later than limit and [Slack] after from.
func (g *Group) WantWithin(what string, from, to time.Time, limit time.Duration) {
	g.t.Helper()
	took := to.Sub(from)
	g.t.Logf("%s: %v", what, took.Round(time.Millisecond))
	if took > limit+Slack {
		g.Errorf("%s took %v, want at most %v (and %v for a slow machine)", what, took, limit, Slack)
	}
}

// WantAtMost fails the test when there are more than most events of a kind that match.
func (g *Group) WantAtMost(most int, k Kind, ms ...Match) {
	g.t.Helper()
	if n := g.Count(k, ms...); n > most {
		g.Errorf("%d times %q as asked for, want at most %d", n, k, most)
	}
}

// Errorf fails the test and shows the history.
func (g *Group) Errorf(format string, args ...any) {
	g.t.Helper()
	g.t.Errorf(format+"\n%v", append(args, g.History)...)
}

// Fatalf is Errorf that ends the test.
func (g *Group) Fatalf(format string, args ...any) {
	g.t.Helper()
	g.t.Fatalf(format+"\n%v", append(args, g.History)...)
}

func (g *Group) must(err error) {
	g.t.Helper()
	if err != nil {
		g.Fatalf("%v", err)
	}
}

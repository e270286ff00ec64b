package data_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// B06a, on a topic without end. What is reachable in the member's process is weighed after a collection, ten times a second.
func TestB06MemoryLevelsOffOnAnEndlessTopic(t *testing.T) {
	t.Parallel()
	endless := kafkatest.Synthetic{
		Topic: heavyTopic, Partitions: heavyPartitions, RecordBytes: heavyMessage, BatchRecords: 1,
	}.Fake(t)
	on(t, "kfake", endless, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, heavyPartitions)
		g.Topic = heavyTopic
		wantLevelHeap(t, g)
	})
}

// B06a, on a topic that would not fit.
func TestB06MemoryLevelsOff(t *testing.T) {
	onKafka(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, heavyPartitions)
		for range 12 {
			produceHeavy(t, g)
		}
		wantLevelHeap(t, g)
	})
}

const (
	heavyTopic      = "heavy"
	heavyPartitions = 12
	heavyMessage    = 1<<20 - 1<<10 // with its overhead it is what a broker takes by default
)

// produceHeavy appends one message to each partition.
func produceHeavy(t *testing.T, g *kit.Group) {
	t.Helper()
	var msgs []*sarama.ProducerMessage
	for p := range g.Partitions {
		msgs = append(msgs, &sarama.ProducerMessage{Topic: g.Topic, Partition: p, Value: sarama.ByteEncoder(make([]byte, heavyMessage))})
	}
	if err := g.Broker.Send(msgs...); err != nil {
		t.Fatal(err)
	}
}

// wantLevelHeap runs tasks of a second for several of their lengths.
func wantLevelHeap(t *testing.T, g *kit.Group) {
	t.Helper()
	g.Input.Expected = time.Second
	plan := g.Plan()
	if plan.ChannelBufferSize > 9 {
		g.Errorf("the buffer has %d messages, want single digits", plan.ChannelBufferSize)
	}
	p := g.StartProcess("a", "a second, weighed")
	g.UntilSeen(heavyPartitions, kit.Returned)
	warm := g.Note("all partitions are at work")
	g.UntilSeen(8*heavyPartitions, kit.Returned)
	p.Kill()
	empty, level := g.Find(kit.Weighed)[0].Offset, heapAfter(g, warm)
	half := len(level) / 2
	early, late, most := mean(level[:half]), mean(level[half:]), slices.Max(level)
	t.Logf("kB: %d empty, then %d early, %d late, and at most %d", empty>>10, early>>10, late>>10, most>>10)
	// P x (buffer x message + one fetch); a fetch of this plan is one message.
	if bound := empty + heavyPartitions*int64(plan.ChannelBufferSize+1)*heavyMessage; mean(level) > bound {
		g.Errorf("the heap levels off at %d kB, want at most %d kB", mean(level)>>10, bound>>10)
	}
	// A backlog, the message that fills it, and one that is under way when fetching pauses; and one answer with a message for each.
	const answer = heavyPartitions * heavyMessage
	if bound := empty + heavyPartitions*(plan.BacklogBytes+2*heavyMessage) + answer; most > bound {
		g.Errorf("the heap reached %d kB, want at most %d kB", most>>10, bound>>10)
	}
	if late > early+answer { // one message more on each partition
		g.Errorf("the heap rises: %d kB early, %d kB late", early>>10, late>>10)
	}
}

// weigh tells the test what is reachable, ten times a second.
func weigh() {
	for {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		line, err := json.Marshal(kit.Event{At: time.Now(), Kind: kit.Weighed, Offset: int64(m.HeapAlloc)})
		if err == nil {
			fmt.Println(string(line))
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func heapAfter(g *kit.Group, begin time.Time) (level []int64) {
	for _, e := range g.Find(kit.Weighed, kit.After(begin)) {
		level = append(level, e.Offset)
	}
	return level
}

func mean(list []int64) (m int64) {
	for _, n := range list {
		m += n / int64(len(list))
	}
	return m
}

// B06b. The slow messages take longer than sarama waits for a claim that does not read on, ten times over.
func TestB06ASlowStartStallsNothing(t *testing.T) {
	kit.EachOrder(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 1)
		g.Input.Expected = 10 * time.Second
		g.ProduceTo(0, 500)
		slow := 10 * g.Plan().MaxProcessingTime
		m := g.Start("a", func(ctx context.Context, t *handler.Task) error {
			if t.Offset < 5 {
				return lasting(ctx, slow)
			}
			return nil
		})
		g.UntilAllHandled()
		g.WantSound(nil)
		g.WantAtMost(500, kit.Started)
		g.WantAtMost(1, kit.Assigned)
		g.WantAtMost(0, kit.Ended)
		m.Stop()
	}, everywhere()...)
}

package peers

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Franz is franz-go's own pattern for work that takes time: a goroutine for each partition.
type Franz struct{}

// Name implements Peer.
func (Franz) Name() string { return "franz_go" }

// Says implements Peer.
func (Franz) Says() string {
	return "franz-go's example of a goroutine a partition, which a rebalance waits for where the partition moves; cooperative-sticky, " +
		"as is its default; commits a message, or each five seconds and at a rebalance where tasks take less than 20 ms"
}

// Orders implements Peer.
func (Franz) Orders() []Order { return []Order{ByPartition} }

const (
	franzPoll  = 10_000 // records a poll, as in the example
	franzAhead = 5      // polls that a partition may be behind, as in the example
)

// Run implements Peer.
func (Franz) Run(ctx context.Context, s Settings, work Work) error {
	split := &franzSplit{work: work, each: s.Task >= Short, lanes: map[int32]*franzLane{}}
	client, err := kgo.NewClient(split.options(s)...)
	if err != nil {
		return err
	}
	split.poll(ctx, client)
	client.CloseAllowingRebalance() // leaves the group, for which the lanes are ended
	return nil
}

// franzSplit hands what a poll returns to the goroutines of the partitions. Callbacks and polls exclude each other.
type franzSplit struct {
	work  Work
	each  bool // a commit for each message
	lanes map[int32]*franzLane
}

func (f *franzSplit) options(s Settings) []kgo.Opt {
	list := []kgo.Opt{
		kgo.SeedBrokers(s.Brokers...), kgo.ConsumerGroup(s.Group), kgo.ConsumeTopics(s.Topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.BlockRebalanceOnPoll(), kgo.AutoCommitMarks(),
		kgo.OnPartitionsAssigned(f.assigned), kgo.OnPartitionsRevoked(f.revoked), kgo.OnPartitionsLost(f.lost),
	}
	if s.Session > 0 {
		list = append(list, kgo.SessionTimeout(s.Session), kgo.HeartbeatInterval(s.Session/3))
	}
	return list
}

func (f *franzSplit) poll(ctx context.Context, client *kgo.Client) {
	for ctx.Err() == nil {
		fetches := client.PollRecords(ctx, franzPoll)
		if fetches.IsClientClosed() {
			return
		}
		fetches.EachPartition(func(p kgo.FetchTopicPartition) {
			if lane := f.lanes[p.Partition]; lane != nil && len(p.Records) > 0 {
				lane.give(ctx, p.Records)
			}
		})
		client.AllowRebalance()
	}
}

func (f *franzSplit) assigned(_ context.Context, client *kgo.Client, topics map[string][]int32) {
	for _, partitions := range topics {
		for _, p := range partitions {
			lane := &franzLane{client: client, quit: make(chan struct{}), done: make(chan struct{}), records: make(chan []*kgo.Record, franzAhead)}
			f.lanes[p] = lane
			go lane.run(f.work, f.each) // ends with quit, and lost waits for it
		}
	}
}

func (f *franzSplit) revoked(ctx context.Context, client *kgo.Client, topics map[string][]int32) {
	f.lost(ctx, client, topics)
	_ = client.CommitMarkedOffsets(ctx)
}

// lost ends the goroutines of these partitions and waits for the messages that they are at.
func (f *franzSplit) lost(_ context.Context, _ *kgo.Client, topics map[string][]int32) {
	var wait sync.WaitGroup
	for _, partitions := range topics {
		for _, p := range partitions {
			lane := f.lanes[p]
			delete(f.lanes, p)
			wait.Go(func() { // ends with the lane
				close(lane.quit)
				<-lane.done
			})
		}
	}
	wait.Wait()
}

// franzLane is the goroutine of a partition.
type franzLane struct {
	client  *kgo.Client
	quit    chan struct{}
	done    chan struct{}
	records chan []*kgo.Record
}

func (l *franzLane) give(ctx context.Context, records []*kgo.Record) {
	select {
	case l.records <- records:
	case <-ctx.Done():
	}
}

func (l *franzLane) run(work Work, each bool) {
	defer close(l.done)
	for {
		select {
		case <-l.quit:
			return
		case records := <-l.records:
			l.handle(records, work, each)
		}
	}
}

func (l *franzLane) handle(records []*kgo.Record, work Work, each bool) {
	for _, r := range records {
		select {
		case <-l.quit:
			return
		default:
		}
		_ = work(context.Background(), Message{r.Partition, r.Offset}) // a context that never ends: it does not fail
		if !each {
			l.client.MarkCommitRecords(r)
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		_ = l.client.CommitRecords(ctx, r)
		cancel()
	}
}

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

const (
	commitTasks = 300
	commitTask  = 20 * time.Millisecond
)

func commitLatency(l *lab) ([]figure, error) {
	topic, b, err := l.topic("commit", 1, commitTasks)
	if err != nil {
		return nil, err
	}
	w := newCommitWatch(commitTasks)
	m, err := l.start(b, topic, config.Input{Expected: time.Second}, func(_ context.Context, t *handler.Task) error {
		time.Sleep(commitTask)
		w.returned(t.Offset)
		return nil
	}, w)
	if err != nil {
		return nil, err
	}
	defer m.stop()
	bare, err := bareCommits(b, topic)
	if err != nil {
		return nil, err
	}
	if _, err := receive(l, w.all); err != nil {
		return nil, err
	}
	own, base := median(w.list()), median(bare)
	return []figure{{name: "commit_p50", value: inMillis(own), unit: "ms", baseline: "bare_OffsetCommit", baselineValue: inMillis(base)}}, nil
}

// commitWatch takes the time from the return of a handler to the answer of its commit.
type commitWatch struct {
	last int64
	all  chan time.Time

	mu   sync.Mutex
	ends map[int64]time.Time // by next offset
	took []time.Duration
}

func newCommitWatch(messages int64) *commitWatch {
	return &commitWatch{last: messages, all: make(chan time.Time, 1), ends: map[int64]time.Time{}}
}

func (w *commitWatch) returned(offset int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ends[offset+1] = time.Now()
}

// OnCommit implements consumer.CommitHook.
func (w *commitWatch) OnCommit(c consumer.Commit) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.Err != nil {
		return
	}
	if end, ok := w.ends[c.Offset]; ok {
		w.took = append(w.took, now.Sub(end))
	}
	if c.Offset == w.last {
		w.all <- now
	}
}

func (w *commitWatch) list() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.took
}

// bareCommits times requests of a group without members, at the pace of the tasks, on a connection of their own.
func bareCommits(b *kafkatest.Node, topic string) ([]time.Duration, error) {
	client, err := sarama.NewClient(b.Addrs(), b.Config())
	if err != nil {
		return nil, err
	}
	defer client.Close()
	coordinator, err := client.Coordinator(topic + "-bare")
	if err != nil {
		return nil, err
	}
	var list []time.Duration
	for i := range int64(commitTasks) {
		time.Sleep(commitTask)
		req := &sarama.OffsetCommitRequest{Version: 8, ConsumerGroup: topic + "-bare", ConsumerGroupGeneration: sarama.GroupGenerationUndefined}
		req.AddBlockWithLeaderEpoch(topic, 0, i, -1, 0, "")
		begin := time.Now()
		resp, err := coordinator.CommitOffset(req)
		if err != nil {
			return nil, err
		}
		if code := resp.Errors[topic][0]; code != sarama.ErrNoError {
			return nil, fmt.Errorf("bare commit: %w", code)
		}
		list = append(list, time.Since(begin))
	}
	return list, nil
}

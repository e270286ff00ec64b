package twin

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/IBM/sarama"
)

const (
	// settle is longer than a real group takes to form and to take a newcomer in, with these settings.
	settle = 5 * time.Second
	// moment is longer than a round or a restart takes in a group that has formed.
	moment = 3 * time.Second
)

// stage is a world with a topic, a group of the same name, and members.
type stage struct {
	World
	name    string
	members []*member
}

// config has short intervals, so that a scenario takes seconds on a broker.
func config(strategy sarama.BalanceStrategy, change ...func(*sarama.Config)) *sarama.Config {
	cfg := sarama.NewConfig()
	cfg.Version = sarama.V3_6_0_0
	cfg.ChannelBufferSize = 2
	cfg.Consumer.Return.Errors = true
	cfg.Consumer.MaxWaitTime = 100 * time.Millisecond
	cfg.Consumer.Offsets.Initial = sarama.OffsetOldest
	cfg.Consumer.Offsets.AutoCommit.Interval = 200 * time.Millisecond
	cfg.Consumer.Group.Session.Timeout = 6 * time.Second
	cfg.Consumer.Group.Heartbeat.Interval = 300 * time.Millisecond
	cfg.Consumer.Group.Rebalance.Timeout = 4 * time.Second
	cfg.Consumer.Group.Rebalance.Retry.Backoff = 250 * time.Millisecond
	cfg.Consumer.Group.Rebalance.Retry.Max = 40
	cfg.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{strategy}
	for _, f := range change {
		f(cfg)
	}
	return cfg
}

func cooperative() sarama.BalanceStrategy { return sarama.NewBalanceStrategyCooperativeSticky() }
func sticky() sarama.BalanceStrategy      { return sarama.NewBalanceStrategySticky() }
func ranged() sarama.BalanceStrategy      { return sarama.NewBalanceStrategyRange() }

// static makes the member static.
func static(cfg *sarama.Config) { cfg.Consumer.Group.InstanceId = "pod-1" }

// refreshing looks for new partitions often.
func refreshing(cfg *sarama.Config) { cfg.Metadata.RefreshFrequency = 500 * time.Millisecond }

// committed is the offset of a partition.
func (s *stage) committed(partition int32) int64 {
	offset, _ := s.Committed(s.name, s.name, partition)
	return offset
}

// events lists what the members saw, errors last and once each.
func (s *stage) events() []string {
	var all, errs []string
	for _, m := range s.members {
		for _, e := range m.log() {
			e = m.who + " " + strings.ReplaceAll(e, s.name, "topic")
			switch {
			case !strings.Contains(e, " error: "):
				all = append(all, e)
			case !slices.Contains(errs, e):
				errs = append(errs, e)
			}
		}
	}
	return append(all, errs...)
}

// count is the number of partitions of claims.
func count(claims map[string][]int32) (n int) {
	for _, partitions := range claims {
		n += len(partitions)
	}
	return n
}

// must panics: no scenario asks for what cannot be done.
func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("twin: %v", err))
	}
	return v
}

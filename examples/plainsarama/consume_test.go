package main

import (
	"bytes"
	"context"
	"log/slog"
	"regexp"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"
)

// group ends each Consume as the test says.
type group struct {
	sarama.ConsumerGroup
	began   time.Time
	calls   []time.Duration // since began
	consume func(call int) error
}

func (g *group) Consume(context.Context, []string, sarama.ConsumerGroupHandler) error {
	g.calls = append(g.calls, time.Since(g.began))
	return g.consume(len(g.calls))
}

// A topic that is missing makes each Consume fail: the pauses grow to a minute, and start small again after a session.
func TestPausesGrowWhileTheTopicIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &group{began: time.Now(), consume: func(call int) error {
			if call == 9 {
				return nil
			}
			return sarama.ErrUnknownTopicOrPartition
		}}
		var log bytes.Buffer
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		if err := consume(ctx, g, "reports", nil, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
			t.Error(err)
		}
		var pauses []string
		for _, found := range regexp.MustCompile(`retry_in=(\S+)`).FindAllStringSubmatch(log.String(), -1) {
			pauses = append(pauses, found[1])
		}
		want := []string{"1s", "2s", "4s", "8s", "16s", "32s", "1m0s", "1m0s", "1s", "2s", "4s", "8s", "16s", "32s", "1m0s"}
		if !slices.Equal(pauses, want) || len(g.calls) != len(want)+1 {
			t.Errorf("pauses %v after %d calls, want %v", pauses, len(g.calls), want)
		}
		for i, pause := range want[:8] {
			if d, err := time.ParseDuration(pause); err != nil || g.calls[i+1]-g.calls[i] != d {
				t.Errorf("call %d came %v after the one before, want %v", i+2, g.calls[i+1]-g.calls[i], pause)
			}
		}
	})
}

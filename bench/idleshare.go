package main

import (
	"context"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

const (
	sharePartitions = 8
	shareBusy       = 4
	shareTask       = time.Minute
	shareRounds     = 3
)

// claiming tells of each claim that begins.
type claiming chan time.Time

// OnClaimStart implements handler.ClaimStartHook.
func (c claiming) OnClaimStart(handler.Claim) {
	select {
	case c <- time.Now():
	default: // more than anybody asks for
	}
}

// idleShare measures when a newcomer has its share of idle partitions, while the others are busy.
func idleShare(l *lab) (list []figure, err error) {
	for _, eager := range []bool{true, false} {
		name := "newcomer_idle_share_cooperative"
		if eager {
			name = "newcomer_idle_share_eager"
		}
		var busy, idle []float64
		for range shareRounds {
			one, err := newcomersShare(l, eager, shareBusy)
			if err != nil {
				return list, err
			}
			other, err := newcomersShare(l, eager, 0)
			if err != nil {
				return list, err
			}
			busy, idle = append(busy, one.Seconds()), append(idle, other.Seconds())
		}
		list = append(list, versus(figure{name: name, unit: "s", baseline: "nothing_runs"}, busy, idle))
	}
	return list, nil
}

// newcomersShare is the time from a newcomer's Run until it has half of the partitions, of which some are busy.
func newcomersShare(l *lab, eager bool, busy int) (time.Duration, error) {
	topic, b, err := l.topic("share", sharePartitions, 0)
	if err != nil {
		return 0, err
	}
	in := config.Input{Expected: shareTask, Eager: eager}
	began, all := times(), make(claiming, 2*sharePartitions)
	one, err := l.start(b, topic, in, obedient(began, shareTask), all)
	if err != nil {
		return 0, err
	}
	defer one.stop()
	if err := await(l, all, sharePartitions); err != nil {
		return 0, err
	}
	if err := occupy(l, b, topic, began, busy); err != nil {
		return 0, err
	}
	share := make(claiming, 2*sharePartitions)
	two, err := l.start(b, topic, in, func(context.Context, *handler.Task) error { return nil }, share)
	if err != nil {
		return 0, err
	}
	defer two.stop()
	err = await(l, share, sharePartitions/2)
	return time.Since(two.began), err
}

// occupy lets a task begin on some of the partitions.
func occupy(l *lab, b kafkatest.Broker, topic string, began chan time.Time, n int) error {
	for p := range int32(n) {
		if err := b.Send(&sarama.ProducerMessage{Topic: topic, Partition: p, Value: sarama.StringEncoder("v")}); err != nil {
			return err
		}
		if _, err := receive(l, began); err != nil {
			return err
		}
	}
	return nil
}

func await[T any](l *lab, c <-chan T, n int) error {
	for range n {
		if _, err := receive(l, c); err != nil {
			return err
		}
	}
	return nil
}

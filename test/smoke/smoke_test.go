package smoke_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

var shared kafkatest.Shared

func TestMain(m *testing.M) { shared.Run(m) }

func TestSmoke(t *testing.T) {
	for name, b := range map[string]func() kafkatest.Broker{
		"kfake": func() kafkatest.Broker { return kafkatest.Fake(t) },
		"kafka": func() kafkatest.Broker { return shared.Kafka(t, kafkatest.Newest) },
	} {
		for _, eager := range []bool{false, true} {
			t.Run(fmt.Sprint(name, eager), func(t *testing.T) { smoke(t, b(), eager) })
		}
	}
}

func smoke(t *testing.T, b kafkatest.Broker, eager bool) {
	topic := kafkatest.Name(t)
	if err := b.CreateTopic(topic, 6); err != nil {
		t.Fatal(err)
	}
	for p := range int32(6) {
		if err := b.Produce(topic, p, "a", "b", "c", "d"); err != nil {
			t.Fatal(err)
		}
	}
	plan, err := config.Input{Expected: 5 * time.Minute, Heartbeat: 300 * time.Millisecond, Eager: eager}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	n := 0
	mk := func(who string) (*consumer.Consumer, context.CancelFunc, chan error) {
		c, err := consumer.New(consumer.Config{
			Brokers: b.Addrs(), Group: topic, Topics: []string{topic}, Plan: plan, Sarama: b.Config(),
			Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})).With("who", who),
		}, handler.Func(func(ctx context.Context, m *handler.Task) error {
			fmt.Println(time.Now().Format("05.000"), who, "start", m.Partition, m.Offset)
			select {
			case <-time.After(time.Second):
				mu.Lock()
				n++
				mu.Unlock()
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- c.Run(ctx) }()
		return c, cancel, done
	}
	c1, cancel1, done1 := mk("one")
	time.Sleep(2 * time.Second)
	_, cancel2, done2 := mk("two")
	time.Sleep(3 * time.Second)
	fmt.Printf("%+v\n", c1.Status())
	s := time.Now()
	cancel1()
	fmt.Println("one:", <-done1, time.Since(s))
	time.Sleep(3 * time.Second)
	s = time.Now()
	cancel2()
	fmt.Println("two:", <-done2, time.Since(s))
	for p := range int32(6) {
		o, _, err := b.Committed(topic, topic, p)
		fmt.Print(p, ":", o, err, " ")
	}
	fmt.Println("handled", n)
}

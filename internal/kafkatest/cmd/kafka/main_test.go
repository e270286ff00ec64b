package main

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// What README and examples say: one command for a broker with something in it.
func TestTheEmbeddedBrokerHasTopicAndMessages(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	in, out := io.Pipe()
	s := settings{nodes: 1, embedded: true, messages: 10}
	if err := s.topic.Set("report-requests:3"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.run(ctx, out) }() // ends with ctx
	addr, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	b := kafkatest.Connect([]string{strings.TrimSpace(addr)}, sarama.NewConfig)
	for partition, want := range []int64{4, 3, 3} {
		if got, err := b.EndOffset("report-requests", int32(partition)); err != nil || got != want {
			t.Errorf("partition %d ends at %d (%v), want %d", partition, got, err, want)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestFlagsThatMakeNoSenseAreRefused(t *testing.T) {
	for says, s := range map[string]settings{
		"-topic":    {nodes: 1, messages: 1},
		"0 or more": {nodes: 1, messages: -1},
		"1 or 3":    {nodes: 2},
		"-embedded": {nodes: 1, port: 9092},
	} {
		if err := s.run(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want one that says %s", s, err, says)
		}
	}
	for _, text := range []string{"", "a", ":3", "a:", "a:0", "a:b"} {
		if err := new(topic).Set(text); err == nil {
			t.Errorf("-topic %q is taken", text)
		}
	}
}

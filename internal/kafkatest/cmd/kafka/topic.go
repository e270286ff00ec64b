package main

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// topic is a topic to be made, or none.
type topic struct {
	name       string
	partitions int32
}

var _ flag.Value = (*topic)(nil)

func (t *topic) String() string {
	if t.name == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", t.name, t.partitions)
}

// Set implements flag.Value.
func (t *topic) Set(s string) error {
	name, number, _ := strings.Cut(s, ":")
	n, err := strconv.ParseInt(number, 10, 32)
	if name == "" || err != nil || n < 1 {
		return errors.New("want name:partitions, report-requests:3 for example")
	}
	t.name, t.partitions = name, int32(n)
	return nil
}

// create makes the topic, and spreads messages over its partitions.
func (t *topic) create(b kafkatest.Broker, messages int) error {
	if t.name == "" {
		return nil
	}
	if err := b.CreateTopic(t.name, t.partitions); err != nil || messages == 0 {
		return err
	}
	list := make([]*sarama.ProducerMessage, messages)
	for i := range list {
		list[i] = &sarama.ProducerMessage{Topic: t.name, Partition: int32(i) % t.partitions, Value: sarama.StringEncoder(strconv.Itoa(i + 1))}
	}
	return b.Send(list...)
}

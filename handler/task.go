// Package handler runs the tasks of a sarama consumer group apart from its claim loops.
package handler

import "github.com/IBM/sarama"

// Task is one message and its handling. It is valid until Handle returns.
type Task struct {
	*sarama.ConsumerMessage
}

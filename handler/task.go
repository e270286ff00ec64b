package handler

import (
	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/task"
)

// Task is one message and its handling. It embeds the message: t.Key, t.Value, t.Headers, t.Topic, t.Partition, t.Offset.
//
// A task belongs to the handler call: keep nothing of it after Handle has returned, and do not change its offset, which is what gets
// committed. Key, Value and Headers may be kept; where the plan says CopyMessages they have memory of their own, else they are parts
// of a whole fetch response and keep that alive.
type Task struct { // 32 bytes; a run of tasks lies in one piece of memory
	*sarama.ConsumerMessage
	attempt int32
	size    int32
	call    task.Call
}

func (t *Task) prepare(m *sarama.ConsumerMessage, attempt int32, scope *task.Scope) {
	t.ConsumerMessage, t.attempt, t.size = m, attempt, size(m)
	t.call.Begin(scope)
}

// next is the number of the next attempt.
func (t *Task) next() int32 { return min(t.attempt+1, 1<<30) }

// size is what the message holds in memory, about: its record overhead is not counted.
func size(m *sarama.ConsumerMessage) int32 {
	n := len(m.Key) + len(m.Value)
	for _, h := range m.Headers {
		n += len(h.Key) + len(h.Value)
	}
	return int32(min(n, 1<<31-1))
}

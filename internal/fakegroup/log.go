package fakegroup

import (
	"cmp"
	"slices"
	"sync"

	"github.com/IBM/sarama"
)

// recordOverhead is about what Kafka adds to a record that is produced alone: one batch header (61 bytes) and the record's fields.
const recordOverhead = 70

// partitionLog is one partition's records, in offset order, with holes where offsets have none.
type partitionLog struct {
	changed *signal

	mu      sync.Mutex
	records []sarama.ConsumerMessage
	start   int64
	next    int64
}

func newLogs(n int) []*partitionLog {
	logs := make([]*partitionLog, n)
	for i := range logs {
		logs[i] = &partitionLog{changed: newSignal()}
	}
	return logs
}

func (l *partitionLog) append(m sarama.ConsumerMessage) int64 {
	defer l.changed.broadcast()
	l.mu.Lock()
	defer l.mu.Unlock()
	m.Offset = l.next
	l.next++
	l.records = append(l.records, m)
	return m.Offset
}

func (l *partitionLog) gap(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next += n
}

func (l *partitionLog) trim(offset int64) {
	defer l.changed.broadcast()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.start = max(l.start, min(offset, l.next))
	for len(l.records) > 0 && l.records[0].Offset < l.start {
		l.records = l.records[1:]
	}
}

func (l *partitionLog) bounds() (start, next int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.start, l.next
}

// limit bounds one fetch. At least one record is returned whatever its size (KIP-74).
type limit struct{ bytes, records int }

// read returns copies of the records from offset on, and the high watermark.
func (l *partitionLog) read(offset int64, lim limit) ([]*sarama.ConsumerMessage, int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if offset < l.start || offset > l.next {
		return nil, l.next, sarama.ErrOffsetOutOfRange
	}
	var batch []*sarama.ConsumerMessage
	size := 0
	first, _ := slices.BinarySearchFunc(l.records, offset, func(m sarama.ConsumerMessage, o int64) int { return cmp.Compare(m.Offset, o) })
	for _, m := range l.records[first:] {
		size += recordOverhead + len(m.Key) + len(m.Value)
		if len(batch) > 0 && (size > lim.bytes || lim.records > 0 && len(batch) >= lim.records) {
			break
		}
		batch = append(batch, &m)
	}
	return batch, l.next, nil
}

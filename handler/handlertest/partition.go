package handlertest

import (
	"fmt"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
)

// partition is what a broker would hold of one: its messages and the group's committed offset. The run's lock guards it, but for claim
// and claimed, which the test's goroutine owns.
type partition struct {
	key      handler.Claim
	messages []*sarama.ConsumerMessage
	next     int64 // offset after the last message
	first    int64 // offset of the first message that a claim was given, -1 as long as there is none

	committed offset
	marked    offset
	dirty     bool // marked and not committed

	claim   *claim // nil while nobody, or another member, holds the partition
	claimed bool   // it has been once
}

// offset is a next offset with its metadata, -1 for none.
type offset struct {
	offset   int64
	metadata string
}

func newPartition(key handler.Claim) *partition {
	return &partition{key: key, first: -1, committed: offset{offset: -1}, marked: offset{offset: -1}}
}

func (p *partition) String() string { return fmt.Sprintf("%s/%d", p.key.Topic, p.key.Partition) }

// untouched says that no message of it is committed: nothing is, or only the start, which the engine commits for a group that is new to
// a partition.
func (p *partition) untouched() bool { return p.committed.offset <= p.first }

func (p *partition) append(m sarama.ConsumerMessage) {
	m.Offset = max(m.Offset, p.next)
	p.next = m.Offset + 1
	p.messages = append(p.messages, &m)
}

// from returns the first message at or after an offset, nil when there is none.
func (p *partition) from(offset int64) *sarama.ConsumerMessage {
	for _, m := range p.messages {
		if m.Offset >= offset {
			return m
		}
	}
	return nil
}

// mark notes an offset as sarama does, MarkOffset only raises, ResetOffset only lowers or replaces the metadata, and says whether
// anything changed.
func (p *partition) mark(o offset, raise bool) bool {
	if raise != (o.offset > p.marked.offset) || o == p.marked {
		return false
	}
	p.marked, p.dirty = o, true
	return true
}

func (p *partition) asMark(o offset) Mark {
	return Mark{Topic: p.key.Topic, Partition: p.key.Partition, Offset: o.offset, Metadata: o.metadata}
}

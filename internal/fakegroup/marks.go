package fakegroup

import (
	"context"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

// marks is a session's offset manager (offset_manager.go).
type marks struct {
	group  *Group
	cancel context.CancelCauseFunc

	generation   semaphore // keeps a commit within one generation (offset_manager.go:278-289); guards the two below
	memberID     string
	generationID int32

	mu    sync.Mutex
	parts map[topicPartition]*mark

	stop chan struct{}
	wg   sync.WaitGroup
}

// mark is one partition's next offset.
type mark struct {
	committedOffset
	dirty bool
}

func newMarks(g *Group, gen *generation, cancel context.CancelCauseFunc) *marks {
	m := &marks{
		group: g, cancel: cancel, generation: newSemaphore(), memberID: gen.memberID, generationID: gen.id,
		parts: make(map[topicPartition]*mark), stop: make(chan struct{}),
	}
	if g.cfg.Consumer.Offsets.AutoCommit.Enable {
		// Ends when close closes stop.
		m.wg.Go(m.commitByTimer)
	}
	return m
}

func (m *marks) commitByTimer() {
	tick := time.NewTicker(m.group.cfg.Consumer.Offsets.AutoCommit.Interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			m.flush(nil)
		case <-m.stop:
			return
		}
	}
}

// manage fetches the committed offset of each claim.
func (m *marks) manage(claims map[string][]int32) error {
	for _, tp := range flatten(claims) {
		stored, err := call(m.group.network, func() committedOffset { return m.group.coord.committed(tp) })
		if err != nil {
			return err
		}
		m.mu.Lock()
		m.parts[tp] = &mark{committedOffset: stored}
		m.mu.Unlock()
	}
	return nil
}

// mark only raises (offset_manager.go:700-709). A partition that is not managed any more is passed over in silence.
func (m *marks) mark(tp topicPartition, offset int64, metadata string) {
	m.set(tp, offset, metadata, func(now int64) bool { return offset > now })
}

// reset only lowers, or replaces the metadata of the same offset (offset_manager.go:711-720).
func (m *marks) reset(tp topicPartition, offset int64, metadata string) {
	m.set(tp, offset, metadata, func(now int64) bool { return offset <= now })
}

func (m *marks) set(tp topicPartition, offset int64, metadata string, allowed func(now int64) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.parts[tp]; p != nil && allowed(p.offset) {
		p.committedOffset = committedOffset{offset, metadata}
		p.dirty = true
	}
}

// next is where a claim starts: Consumer.Offsets.Initial, unresolved, where nothing is committed.
func (m *marks) next(tp topicPartition) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.parts[tp]; p != nil && p.offset >= 0 {
		return p.offset
	}
	return m.group.cfg.Consumer.Offsets.Initial
}

// flush commits what is marked and not committed, for the given partitions or for all.
func (m *marks) flush(only []topicPartition) {
	m.generation.lock()
	defer m.generation.unlock()
	blocks := m.dirty(only)
	if len(blocks) == 0 {
		return
	}
	req := commit{memberID: m.memberID, instance: m.group.instance, generation: m.generationID, blocks: blocks}
	answers, err := call(m.group.network, func() map[topicPartition]sarama.KError { return m.group.coord.commit(req) })
	for tp, block := range blocks {
		if err != nil {
			m.group.report(err, tp)
			continue
		}
		m.settle(tp, block, answers[tp])
	}
}

func (m *marks) dirty(only []topicPartition) map[topicPartition]committedOffset {
	m.mu.Lock()
	defer m.mu.Unlock()
	blocks := make(map[topicPartition]committedOffset)
	for _, tp := range m.chosen(only) {
		if p := m.parts[tp]; p != nil && p.dirty {
			blocks[tp] = p.committedOffset
		}
	}
	return blocks
}

// chosen returns the given partitions, or all. The caller holds the lock.
func (m *marks) chosen(only []topicPartition) []topicPartition {
	if only != nil {
		return only
	}
	for tp := range m.parts {
		only = append(only, tp)
	}
	return only
}

// settle takes the coordinator's answer: some errors are silent, all leave the mark to be sent again (offset_manager.go:434-489).
func (m *marks) settle(tp topicPartition, sent committedOffset, answer sarama.KError) {
	switch {
	case answer == sarama.ErrNoError:
		m.clean(tp, sent)
	case moved(answer), answer == sarama.ErrOffsetsLoadInProgress, answer == sarama.ErrNotLeaderForPartition, answer == sarama.ErrLeaderNotAvailable:
	case answer == sarama.ErrFencedInstancedId:
		m.group.report(answer, tp)
		m.cancel(answer)
	default:
		m.group.report(answer, tp)
	}
}

func (m *marks) clean(tp topicPartition, sent committedOffset) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.parts[tp]; p != nil && p.committedOffset == sent {
		p.dirty = false
	}
}

// remove gives partitions up. With the timed commit on, their marks are committed first, in at most Offsets.Retry.Max + 1 tries without
// a pause; with it off they are thrown away (offset_manager.go:522-553).
func (m *marks) remove(parts []topicPartition) {
	offsets := m.group.cfg.Consumer.Offsets
	for try := 0; offsets.AutoCommit.Enable && try <= offsets.Retry.Max && len(m.dirty(parts)) > 0; try++ {
		m.flush(parts)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, tp := range parts {
		delete(m.parts, tp)
	}
}

// close stops the timer, and gives up all partitions.
func (m *marks) close() {
	close(m.stop)
	m.wg.Wait()
	m.mu.Lock()
	all := m.chosen(nil)
	m.mu.Unlock()
	m.remove(all)
}

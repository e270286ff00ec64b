package handler

import (
	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/schedule"
)

// setAside keeps messages that were received and must not be delivered yet, see account.crowded. Fetching pauses meanwhile, so that
// no more than what was under way is kept.
func (l *loop) setAside(batch []*sarama.ConsumerMessage) {
	l.aside = append(l.aside, batch...)
	l.backlog += len(batch)
	for _, m := range batch {
		l.bytes += int64(size(m))
	}
	l.pool.mu.Lock()
	l.weighLocked()
	l.pool.mu.Unlock()
	l.makeRoom()
}

// deliverAside goes on with what was set aside, as far as there is room again.
func (l *loop) deliverAside() {
	for len(l.aside) > 0 && !l.account.crowded(l.aside[0].Offset) {
		n := min(len(l.aside), schedule.MaxRun)
		batch := l.aside[:n:n]
		l.aside = l.aside[n:]
		l.backlog -= n
		for _, m := range batch {
			l.bytes -= int64(size(m))
		}
		rest := l.aside
		l.aside = nil
		l.start(l.deliver(batch)) // may set a part aside of it
		l.aside = append(l.aside, rest...)
	}
}

package handler

import (
	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/schedule"
)

// keep puts messages aside that were received and must not be delivered yet, see account.crowded. Fetching pauses meanwhile, so that
// no more than what was under way is kept.
func (l *loop) keep(batch []*sarama.ConsumerMessage) {
	l.kept = append(l.kept, batch...)
	l.backlog += len(batch)
	for _, m := range batch {
		l.bytes += int64(size(m))
	}
	l.makeRoom()
}

// deliverKept goes on with what was kept, as far as there is room again.
func (l *loop) deliverKept() {
	for len(l.kept) > 0 && !l.account.crowded(l.kept[0].Offset) {
		n := min(len(l.kept), schedule.MaxRun)
		batch := l.kept[:n:n]
		l.kept = l.kept[n:]
		l.backlog -= n
		for _, m := range batch {
			l.bytes -= int64(size(m))
		}
		rest := l.kept
		l.kept = nil
		l.start(l.deliver(batch)) // may keep a part of it
		l.kept = append(l.kept, rest...)
	}
}

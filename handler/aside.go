package handler

import (
	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/schedule"
)

// setAside keeps messages that were received and must not be delivered yet: there is no room for them in a commit's map, or it is not yet
// known where the partition stands.
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
	before := len(l.aside)
	for len(l.aside) > 0 && !l.crowded() {
		batch := make([]*sarama.ConsumerMessage, 0, min(len(l.aside), schedule.MaxRun))
		for len(batch) < cap(batch) && len(l.aside) > 0 && !l.crowded() {
			if m := l.nextAside(); l.accept(m) {
				batch = append(batch, m)
			}
		}
		l.start(batch)
	}
	l.tryAwaited()
	if len(l.aside) < before {
		l.exchange() // there is more room, also where nothing of it has to run
	}
	if len(l.aside) == 0 {
		l.aside = nil
	}
}

// crowded says that what was set aside has to wait for room. Fetching pauses meanwhile, so that no more than what was under way is kept.
func (l *loop) crowded() bool { return len(l.aside) > 0 && l.account.crowdedBy(l.aside[0].Offset) }

func (l *loop) nextAside() *sarama.ConsumerMessage {
	m := l.aside[0]
	l.aside[0] = nil
	l.aside = l.aside[1:]
	l.backlog--
	l.bytes -= int64(size(m))
	return m
}

// beginAside begins the claim with what was set aside, if there is anything, and delivers it.
func (l *loop) beginAside() {
	if len(l.aside) == 0 {
		return
	}
	if l.first {
		l.first = false
		l.begin(l.aside[0].Offset)
	}
	if l.open {
		l.deliverAside()
	}
}

// meanwhile asks the broker something, and sets aside what is received until it is answered: a claim whose messages nobody takes holds up
// all that its fetcher serves. It is called on a goroutine of its own, and has to return when the intake ends. Over a plain session nobody
// is asked.
func (l *loop) meanwhile(ask func()) {
	if l.account.bare {
		ask()
		return
	}
	answered := make(chan struct{})
	go func() { // ends with the intake
		defer close(answered)
		ask()
	}()
	for {
		select {
		case <-answered:
			return
		case m, ok := <-l.input():
			batch, ok := l.gather(m, ok)
			l.setAside(batch)
			clear(batch)
			if !ok {
				l.open = false
				l.stop()
				<-answered
				return
			}
		}
	}
}

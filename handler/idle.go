package handler

// A WaitGroup would not do here: tasks may start while somebody waits, and its counter must not rise from zero then.

// whenIdle returns a channel that is closed when no runner is left.
func (p *pool) whenIdle() <-chan struct{} {
	p.mu.Lock()
	if p.idle == nil {
		p.idle = make(chan struct{})
	}
	waiting := p.idle
	idle := p.idleLocked()
	p.mu.Unlock()
	closeIf(idle)
	return waiting
}

// idleLocked returns the channel to close, without the lock, when the pool is idle and somebody waits for it.
func (p *pool) idleLocked() (idle chan struct{}) {
	if p.running+p.asking == 0 {
		idle, p.idle = p.idle, nil
	}
	return idle
}

func closeIf(c chan struct{}) {
	if c != nil {
		close(c)
	}
}

// aside runs ask on a goroutine of its own, for a caller that may not be able to wait for the answer.
func (p *pool) aside(ask func() int64) <-chan int64 {
	answer := make(chan int64, 1)
	p.mu.Lock()
	p.asking++
	p.mu.Unlock()
	go func() { // ends with ask; GroupHandler.Wait waits for it
		answer <- ask()
		p.mu.Lock()
		p.asking--
		idle := p.idleLocked()
		p.mu.Unlock()
		closeIf(idle)
	}()
	return answer
}

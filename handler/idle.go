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
	if p.running+p.parting == 0 {
		idle, p.idle = p.idle, nil
	}
	return idle
}

func closeIf(c chan struct{}) {
	if c != nil {
		close(c)
	}
}

// parted says that c has seen its tasks off, false when it had done so already.
func (p *pool) parted(c *claim) (first bool) {
	p.mu.Lock()
	if first = c.parting; first {
		c.parting = false
		p.parting--
	}
	idle := p.idleLocked()
	p.mu.Unlock()
	closeIf(idle)
	return first
}

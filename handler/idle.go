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

// parted says that the tasks of c have had their moment to return, and how many are left, which are told of one by one from now on. first is
// false when it was known already.
func (p *pool) parted(c *claim) (first bool, left int) {
	p.mu.Lock()
	first, left = c.parting, c.flight
	if first {
		c.parting = false
		p.parting--
		p.counts.Abandoned += int64(left)
	}
	idle := p.idleLocked()
	p.mu.Unlock()
	closeIf(idle)
	return first, left
}

package fakegroup

// adopt makes c the group's consumer of its partition. A pause of the group survives sessions (consumer.go:242, since v1.60.1).
func (g *Group) adopt(c *claim) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.paused[c.tp]; ok {
		c.paused.Store(true)
	}
	g.running[c.tp] = c
}

func (g *Group) abandon(c *claim) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running[c.tp] == c {
		delete(g.running, c.tp)
	}
}

// FailClaim closes the claim of a partition while its session lives, with err on Errors: what sarama does at
// sarama.ErrOffsetOutOfRange. It reports whether the partition is claimed.
func (g *Group) FailClaim(topic string, partition int32, err error) bool {
	g.mu.Lock()
	c := g.running[topicPartition{topic, partition}]
	g.mu.Unlock()
	if c == nil {
		return false
	}
	c.failure.Store(&err)
	c.gate.broadcast()
	return true
}

// Pause implements sarama.ConsumerGroup. Partitions that are not claimed now are passed over (consumer.go:298-315).
func (g *Group) Pause(partitions map[string][]int32) {
	g.each(partitions, func(tp topicPartition, c *claim) {
		if c != nil {
			g.paused[tp] = struct{}{}
			c.Pause()
		}
	})
}

// Resume implements sarama.ConsumerGroup.
func (g *Group) Resume(partitions map[string][]int32) {
	g.each(partitions, func(tp topicPartition, c *claim) {
		delete(g.paused, tp)
		if c != nil {
			c.Resume()
		}
	})
}

func (g *Group) each(partitions map[string][]int32, f func(topicPartition, *claim)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, tp := range flatten(partitions) {
		f(tp, g.running[tp])
	}
}

// PauseAll implements sarama.ConsumerGroup. Partitions claimed later are not paused.
func (g *Group) PauseAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for tp, c := range g.running {
		g.paused[tp] = struct{}{}
		c.Pause()
	}
}

// ResumeAll implements sarama.ConsumerGroup.
func (g *Group) ResumeAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.paused)
	for _, c := range g.running {
		c.Resume()
	}
}

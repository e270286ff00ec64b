package link

import "context"

// binding is one call of Bind. It is told from another one by its address: contexts need not be comparable.
type binding struct{ ctx context.Context }

// Bind makes what sarama does through l end with ctx: a request in flight on the group connection, a look for the coordinator, a
// metadata refresh, a look for an offset or a leader. It replaces an earlier Bind and holds until the next one, or until unbind.
//
// unbind takes ctx away again, if it is still the bound one, and reports whether it came before ctx's end was acted on. After it, and
// before the first Bind, the work ends with [Link.Close] alone. Bind and unbind are safe for concurrent use and do not block.
//
// The end of ctx closes the socket of the group connection. The member stays in the group until a LeaveGroup: Bind a context with a
// few seconds, then close the ConsumerGroup, whose LeaveGroup goes over a fresh connection.
func (l *Link) Bind(ctx context.Context) (unbind func() bool) {
	b := &binding{ctx}
	l.mu.Lock()
	l.bound = b
	l.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { l.endBound(b) })
	return func() bool {
		l.release(b)
		return stop()
	}
}

// endBound closes the group connection if b is still the bound one. The call may be late: ctx ends, the next Bind comes, its work has
// dialled a new connection, and only then does this goroutine get to run. Comparing and closing are one step under the lock.
func (l *Link) endBound(b *binding) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bound == b {
		l.group.drop()
	}
}

func (l *Link) release(b *binding) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bound == b {
		l.bound = &binding{l.life.ctx}
	}
}

// context returns the bound context.
func (l *Link) context() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bound.ctx
}

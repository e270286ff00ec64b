package fakegroup

import "sync"

// signal wakes everybody who waits for a change. A waiter takes the channel first and looks at the state second: a change in
// between closes the channel that it holds.
type signal struct {
	mu sync.Mutex
	ch chan struct{}
}

func newSignal() *signal { return &signal{ch: make(chan struct{})} }

func (s *signal) wait() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ch
}

func (s *signal) broadcast() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.ch)
	s.ch = make(chan struct{})
}

// semaphore is a lock that may be held over a durable block: synctest treats a wait for it as idle, which it does not for a mutex.
type semaphore chan struct{}

func newSemaphore() semaphore { return make(semaphore, 1) }

func (s semaphore) lock()   { s <- struct{}{} }
func (s semaphore) unlock() { <-s }

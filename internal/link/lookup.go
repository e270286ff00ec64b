package link

import (
	"context"
	"fmt"
	"sync"

	"github.com/IBM/sarama"
)

// finder knows where the coordinator is.
type finder struct {
	link *Link

	mu     sync.Mutex
	found  place // the last one
	search *search
	pace   pace // of the search under way
}

// place is a broker.
type place struct {
	addr string // "" for none
	id   int32
}

// search is one look for the coordinator that several callers wait for.
type search struct {
	done  chan struct{}
	found place // set before done is closed
	err   error
}

// last returns the place that was found last.
func (f *finder) last() place {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.found
}

// address returns the last address found, "" for none.
func (f *finder) address() string { return f.last().addr }

// locate returns the coordinator's address, looked up anew when fresh is set or none is known. Only the wait ends with ctx: the
// search goes on for the others.
func (f *finder) locate(ctx context.Context, fresh bool) (string, error) {
	if addr := f.address(); addr != "" && !fresh {
		return addr, nil
	}
	s := f.join()
	select {
	case <-s.done:
		return s.found.addr, s.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// join returns the search under way, or starts one.
func (f *finder) join() *search {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.search != nil {
		return f.search
	}
	s := &search{done: make(chan struct{})}
	// Ends with the answer, with ask's time limit, or with the Link.
	if !f.link.life.run(func() { f.run(s) }) {
		s.err = sarama.ErrClosedClient
		close(s.done)
		return s
	}
	f.search = s
	return s
}

func (f *finder) run(s *search) {
	s.found, s.err = f.look(f.link.life.ctx)
	f.mu.Lock()
	f.search = nil
	if s.err == nil {
		f.found = s.found
	}
	f.mu.Unlock()
	close(s.done)
}

func (f *finder) look(ctx context.Context) (place, error) {
	if err := f.pace.wait(ctx); err != nil {
		return place{}, sarama.ErrClosedClient
	}
	found, err := ask(ctx, f.link, f.question)
	f.pace.done(err)
	if err != nil {
		return place{}, fmt.Errorf("find the coordinator of group %s: %w", f.link.id, err)
	}
	return found, nil
}

func (f *finder) question(b *sarama.Broker) (place, error) {
	resp, err := b.FindCoordinator(&sarama.FindCoordinatorRequest{
		Version:         findVersion(f.link.conf.Version),
		CoordinatorKey:  f.link.id,
		CoordinatorType: sarama.CoordinatorGroup,
	})
	switch {
	case err != nil:
		return place{}, err
	case resp.Err != sarama.ErrNoError:
		return place{}, resp.Err
	case resp.Coordinator == nil:
		return place{}, sarama.ErrConsumerCoordinatorNotAvailable
	}
	return place{addr: resp.Coordinator.Addr(), id: resp.Coordinator.ID()}, nil
}

// findVersion is the version that sarama's own lookup takes.
func findVersion(v sarama.KafkaVersion) int16 {
	switch {
	case v.IsAtLeast(sarama.V2_4_0_0):
		return 3
	case v.IsAtLeast(sarama.V2_0_0_0):
		return 2
	case v.IsAtLeast(sarama.V0_11_0_0):
		return 1
	}
	return 0
}

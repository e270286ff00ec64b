package link

import (
	"context"
	"fmt"
	"sync"

	"github.com/IBM/sarama"
)

// finder knows the coordinator's address.
type finder struct {
	link *Link

	mu     sync.Mutex
	addr   string // "" until found
	search *search
	pace   pace // of the search under way
}

// search is one look for the coordinator that several callers wait for.
type search struct {
	done chan struct{}
	addr string // set before done is closed
	err  error
}

// address returns the last address found, "" for none.
func (f *finder) address() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.addr
}

// locate returns the coordinator's address, looked up anew when fresh is set or none is known. Only the wait ends with ctx: the
// search goes on for the others.
func (f *finder) locate(ctx context.Context, fresh bool) (string, error) {
	if addr := f.address(); addr != "" && !fresh {
		return addr, nil
	}
	s := f.join()
	select {
	case <-s.done:
		return s.addr, s.err
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
	s.addr, s.err = f.look(f.link.life.ctx)
	f.mu.Lock()
	f.search = nil
	if s.err == nil {
		f.addr = s.addr
	}
	f.mu.Unlock()
	close(s.done)
}

func (f *finder) look(ctx context.Context) (string, error) {
	if err := f.pace.wait(ctx); err != nil {
		return "", sarama.ErrClosedClient
	}
	addr, err := ask(ctx, f.link, f.question)
	f.pace.done(err)
	if err != nil {
		return "", fmt.Errorf("find the coordinator of group %s: %w", f.link.id, err)
	}
	return addr, nil
}

func (f *finder) question(b *sarama.Broker) (string, error) {
	resp, err := b.FindCoordinator(&sarama.FindCoordinatorRequest{
		Version:         findVersion(f.link.conf.Version),
		CoordinatorKey:  f.link.id,
		CoordinatorType: sarama.CoordinatorGroup,
	})
	switch {
	case err != nil:
		return "", err
	case resp.Err != sarama.ErrNoError:
		return "", resp.Err
	case resp.Coordinator == nil:
		return "", sarama.ErrConsumerCoordinatorNotAvailable
	}
	return resp.Coordinator.Addr(), nil
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

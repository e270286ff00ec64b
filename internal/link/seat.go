package link

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/IBM/sarama"
)

// seat is one connection to the coordinator: a line, and another one when that breaks or the coordinator moves.
type seat struct {
	name string // "group" or "commit"
	link *Link
	long atomic.Int64 // a time.Duration: how long the answer to a join or sync may take

	// turn is held for one request: whoever gives his request up then ends the connection under nobody else's. One token.
	turn chan struct{}

	mu     sync.Mutex
	line   *line    // the newest that came up
	trying *attempt // nil: none under way
	failed bool     // the last attempt failed

	pace pace // of the attempt under way
}

// attempt is one try to connect that several callers wait for.
type attempt struct {
	done chan struct{}
	err  error // set before done is closed
}

func newSeat(name string, l *Link, long time.Duration) *seat {
	s := &seat{name: name, link: l, turn: make(chan struct{}, 1)}
	s.long.Store(int64(long))
	return s
}

// live returns the line if it is up and leads to the coordinator.
func (s *seat) live() *line {
	s.mu.Lock()
	ln := s.line
	s.mu.Unlock()
	if ln == nil || ln.dead() || ln.broker.Addr() != s.link.finder.address() {
		return nil
	}
	return ln
}

// open returns a line that is up. It looks and dials for at most the Link's patience, and returns at once when it is refused or ctx
// ends. What it started goes on: the next caller finds it further on.
func (s *seat) open(ctx context.Context) (*line, error) {
	if ln := s.live(); ln != nil {
		return ln, ctx.Err()
	}
	var ln *line
	err := patiently(ctx, s.link.opt.Patience, func(within context.Context) (err error) {
		ln, err = s.try(within)
		return err
	})
	return ln, err
}

func (s *seat) try(ctx context.Context) (*line, error) {
	if ln := s.live(); ln != nil {
		return ln, nil
	}
	a := s.join()
	select {
	case <-a.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if a.err != nil {
		return nil, a.err
	}
	if ln := s.live(); ln != nil {
		return ln, nil
	}
	// Up, and gone again before anybody used it. Without a pause a broker that does this would be dialled without end.
	return nil, cmp.Or(Sleep(ctx, firstPause), sarama.ErrNotConnected)
}

// join returns the attempt under way, or starts one.
func (s *seat) join() *attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trying != nil {
		return s.trying
	}
	a, fresh := &attempt{done: make(chan struct{})}, s.failed
	// Ends when the line is up or has failed: at most a pause, a lookup, a dial and the short deadline of each step, or the Link's end.
	if !s.link.life.run(func() { s.run(a, fresh) }) {
		a.err = sarama.ErrClosedClient
		close(a.done)
		return a
	}
	s.trying = a
	return a
}

func (s *seat) run(a *attempt, fresh bool) {
	ln, err := s.connect(s.link.life.ctx, fresh)
	a.err = err
	old, changed := s.settle(ln, err)
	close(a.done)
	if changed {
		s.report(err)
	}
	if old != nil {
		old.close()
	}
	// Close may have looked for a line to end just before this one was there.
	if ln != nil && s.link.life.ctx.Err() != nil {
		ln.close()
	}
}

// settle publishes the outcome and returns the line that was replaced, and whether the seat came up or went down.
func (s *seat) settle(ln *line, err error) (old *line, changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trying = nil
	changed = s.failed != (err != nil)
	s.failed = err != nil
	if err != nil {
		return nil, changed
	}
	old, s.line = s.line, ln
	return old, changed
}

// connect makes a new line. After a failure the coordinator is looked up anew: it may have moved because its broker is gone.
func (s *seat) connect(ctx context.Context, fresh bool) (*line, error) {
	addr, err := s.link.finder.locate(ctx, fresh)
	if err != nil {
		return nil, err
	}
	if err := s.pace.wait(ctx); err != nil {
		return nil, sarama.ErrClosedClient
	}
	ln, err := s.link.net.connect(ctx, addr, time.Duration(s.long.Load()))
	s.pace.done(err)
	if err != nil {
		return nil, fmt.Errorf("connect to the coordinator of group %s at %s: %w", s.link.id, addr, err)
	}
	return ln, nil
}

// report logs a seat that goes down or comes back, once each.
func (s *seat) report(err error) {
	switch {
	case s.link.life.ctx.Err() != nil:
	case err != nil:
		s.link.opt.Logger.Warn("no connection to the group coordinator, trying on",
			slog.String("connection", s.name), slog.Any("error", err))
	default:
		s.link.opt.Logger.Info("connected to the group coordinator again", slog.String("connection", s.name))
	}
}

// drop ends the request in flight by closing its socket. Broker.Close would wait for it.
func (s *seat) drop() {
	if ln := s.current(); ln != nil {
		ln.drop()
	}
}

// close drops the line and frees it.
func (s *seat) close() {
	if ln := s.current(); ln != nil {
		ln.close()
	}
}

func (s *seat) current() *line {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.line
}

func (s *seat) take(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *seat) give() { <-s.turn }

// patiently repeats try until it succeeds, is refused, or limit is over. try spaces itself out and ends with its context. The error
// is that of the last try, or of ctx when that has ended.
func patiently(ctx context.Context, limit time.Duration, try func(context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var last error
	for {
		err := try(within)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			return nil
		case within.Err() != nil:
			return cmp.Or(last, error(sarama.Wrap(sarama.ErrOutOfBrokers, err))) // err may only say that time ran out
		case Refused(err), errors.Is(err, sarama.ErrClosedClient):
			return err
		}
		last = err
	}
}

package link

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/IBM/sarama"
)

// stagger is how long one broker has for its answer before the next one is asked as well.
const stagger = 500 * time.Millisecond

// ask puts a question to the brokers and returns the first answer: over the commit connection if there is one, then over a fresh
// connection to each known broker and each address that the Link was made with. A broker that does not answer holds nobody up for
// longer than stagger.
//
// sarama's own client asks one broker at a time, and first waits for the long poll of every leader.
//
// It takes at most the time of one dial and one answer, and stagger for each broker that is silent.
func ask[R any](ctx context.Context, l *Link, question func(*sarama.Broker) (R, error)) (R, error) {
	// The end of the round ends the questions that are still out.
	ctx, cancel := context.WithTimeout(ctx, l.net.timeout+2*l.opt.Short)
	defer cancel()
	r := round[R]{link: l, question: question, addrs: l.addresses()}
	r.answers = make(chan answer[R], len(r.addrs)+1) // room for all, so that nobody waits to be heard
	return r.run(ctx)
}

// answer is what came of one question.
type answer[R any] struct {
	value R
	err   error
}

// round is one question under way to several brokers.
type round[R any] struct {
	link     *Link
	question func(*sarama.Broker) (R, error)
	addrs    []string // not asked yet
	answers  chan answer[R]
	out      int // asked, not answered
	errs     []error
}

func (r *round[R]) run(ctx context.Context) (R, error) {
	if ln := r.link.commit.live(); ln != nil {
		r.start(func() (R, error) { return askLine(ctx, r.link.commit, ln, r.question) })
	} else {
		r.next(ctx)
	}
	tick := time.NewTicker(stagger)
	defer tick.Stop()
	for r.out > 0 {
		select {
		case a := <-r.answers:
			r.out--
			if a.err == nil {
				return a.value, nil
			}
			r.errs = append(r.errs, a.err)
			r.next(ctx)
		case <-tick.C:
			r.next(ctx)
		case <-ctx.Done():
			return *new(R), worst(append(r.errs, ctx.Err()))
		}
	}
	return *new(R), worst(r.errs)
}

func (r *round[R]) next(ctx context.Context) {
	if len(r.addrs) == 0 {
		return
	}
	addr := r.addrs[0]
	r.addrs = r.addrs[1:]
	r.start(func() (R, error) { return askAddress(ctx, r.link.net, r.link.opt.Short, addr, r.question) })
}

// start asks one broker. The goroutine ends with its answer or, its socket closed, with ctx.
func (r *round[R]) start(ask func() (R, error)) {
	started := r.link.life.run(func() {
		value, err := ask()
		r.answers <- answer[R]{value, err}
	})
	if started {
		r.out++
	} else {
		r.errs = append(r.errs, sarama.ErrClosedClient)
	}
}

// askLine asks over a connection that others use too, in turn.
func askLine[R any](ctx context.Context, s *seat, ln *line, question func(*sarama.Broker) (R, error)) (R, error) {
	if err := s.take(ctx); err != nil {
		return *new(R), err
	}
	defer s.give()
	return transact(ctx, ln, question)
}

func askAddress[R any](ctx context.Context, n *network, long time.Duration, addr string, question func(*sarama.Broker) (R, error)) (R, error) {
	ln, err := n.connect(ctx, addr, long)
	if err != nil {
		return *new(R), fmt.Errorf("broker %s: %w", addr, err)
	}
	defer ln.close()
	stop := context.AfterFunc(ctx, ln.drop)
	defer stop()
	value, err := question(ln.broker)
	if err != nil {
		return *new(R), fmt.Errorf("broker %s: %w", addr, err)
	}
	return value, nil
}

// addresses returns every address that may answer, the brokers of the cluster first, each once, in random order.
func (l *Link) addresses() []string {
	var all []string
	for _, b := range l.Brokers() {
		all = append(all, b.Addr())
	}
	shuffle(all)
	seeds := slices.DeleteFunc(slices.Clone(l.seeds), func(addr string) bool { return slices.Contains(all, addr) })
	shuffle(seeds)
	return append(all, seeds...)
}

func shuffle(addrs []string) {
	rand.Shuffle(len(addrs), func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] }) //nolint:gosec // spreads load, keeps no secret
}

// worst picks what the caller has to know: a refusal, else what a broker said, else that none could be reached and why.
func worst(errs []error) error {
	if i := slices.IndexFunc(errs, Refused); i >= 0 {
		return errs[i]
	}
	var said sarama.KError
	if i := slices.IndexFunc(errs, func(err error) bool { return errors.As(err, &said) }); i >= 0 {
		return errs[i]
	}
	return sarama.Wrap(sarama.ErrOutOfBrokers, errs...)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/brokers"
	"github.com/evenkeel-go/evenkeel/chaos/fleet"
	"github.com/evenkeel-go/evenkeel/chaos/ledger"
	"github.com/evenkeel-go/evenkeel/chaos/member"
	"github.com/evenkeel-go/evenkeel/chaos/nemesis"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// The size of a laboratory.
const (
	members    = 4
	extras     = 3
	partitions = 8
	slots      = 6
	perSecond  = 4.0 // messages a second and topic
)

// lab is one run.
type lab struct {
	options
	book    *ledger.Book
	cluster *kafkatest.NodeCluster
	commits *brokers.Commits
	fleet   *fleet.Fleet
	feed    *brokers.Feed
	closers []func() error
}

func run(ctx context.Context, o options, out io.Writer) (status int, err error) {
	pace := nemesis.ForMinutes
	if o.soak {
		pace = nemesis.ForHours
	}
	steps, err := nemesis.Schedule(o.seed, o.length, pace, o.nemesis)
	if err != nil {
		return 2, err
	}
	l := &lab{options: o}
	trouble := l.experiment(ctx, steps)
	if l.book == nil {
		return 2, trouble
	}
	if status, err = o.judge(l.book, o.out, out); trouble != nil && status == 0 {
		status = 2 // what was held was not all that was to be tried
	}
	return status, errors.Join(trouble, err)
}

// experiment opens, breaks, lets come to rest, and closes.
func (l *lab) experiment(ctx context.Context, steps []nemesis.Step) (err error) {
	defer func() { err = errors.Join(err, l.close(), l.bookErr()) }()
	if err := l.open(ctx); err != nil {
		return err
	}
	w := &nemesis.World{Fleet: l.fleet, Cluster: l.cluster, Book: l.book, Say: say}
	if l.soak {
		w.Keep = l.fleet.Slots[0]
	}
	return errors.Join(w.Run(ctx, steps), l.settle(ctx))
}

func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s "+format+"\n", append([]any{time.Now().Format("15:04:05")}, args...)...)
}

func (l *lab) bookErr() error {
	if l.book == nil {
		return nil
	}
	return l.book.Err()
}

// open starts everything. close has to be called also after an error.
func (l *lab) open(ctx context.Context) (err error) {
	say("seed %d: three nodes start", l.seed)
	if l.cluster, err = kafkatest.StartCluster(ctx, kafkatest.Options{Links: fleet.Names(members, extras)}); err != nil {
		return err
	}
	l.onClose(l.cluster.Close)
	l.onClose(l.cluster.Died)
	if err := l.openBook(); err != nil {
		return err
	}
	for _, g := range l.book.Header.Groups {
		if err := l.cluster.CreateTopic(g.Name, g.Partitions); err != nil {
			return err
		}
		// Brings the offsets topic into being.
		if _, _, err := l.cluster.Committed(g.Name, g.Name, 0); err != nil {
			return err
		}
	}
	if l.commits, err = brokers.WatchCommits(l.book, l.cluster); err != nil {
		return err
	}
	l.onClose(l.commits.Close)
	l.onClose(brokers.StartWatch(l.book, l.cluster).Stop)
	if l.feed, err = brokers.Start(l.book, l.cluster, perSecond); err != nil {
		return err
	}
	l.onClose(func() error { l.feed.Stop(); return nil })
	return l.man()
}

// man fills the slots.
func (l *lab) man() error {
	l.fleet = fleet.New(l.book, l.cluster, l.cluster.Config().Version.String(), members, extras)
	l.onClose(l.fleet.Close)
	for _, s := range l.fleet.Slots {
		if err := s.Spawn(); err != nil {
			return err
		}
	}
	return nil
}

func (l *lab) openBook() error {
	if err := os.MkdirAll(l.out, 0o755); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(l.out, ledgerFile))
	if err != nil {
		return err
	}
	l.onClose(f.Close)
	h, err := header(l.options)
	if err != nil {
		return err
	}
	l.book = ledger.NewBook(h, f)
	return nil
}

// header follows from the options: the same seed makes the same groups, in the same order, for the lots count them.
func header(o options) (h ledger.Header, err error) {
	h = ledger.Header{Seed: o.seed, Kafka: kafkatest.Newest, Program: fmt.Sprint("seed ", o.seed, ", ", o.length, ", nemesis ", o.nemesis)}
	for _, order := range []handler.Order{handler.ByPartition, handler.ByKey, handler.None} {
		for _, protocol := range []string{"eager", "cooperative"} {
			g, err := member.NewGroup(order.String()+"-"+protocol, order, protocol == "eager", partitions, slots)
			if err != nil {
				return h, err
			}
			h.Groups = append(h.Groups, g)
		}
	}
	return h, nil
}

func (l *lab) onClose(f func() error) { l.closers = append(l.closers, f) }

// close ends what was opened, the latest first.
func (l *lab) close() error {
	var errs []error
	for _, f := range slices.Backward(l.closers) {
		errs = append(errs, f())
	}
	l.closers = nil
	return errors.Join(errs...)
}

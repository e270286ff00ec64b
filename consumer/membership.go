package consumer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/commit"
	"github.com/evenkeel-go/evenkeel/internal/link"
)

const (
	// leaveLimit bounds the LeaveGroup at the end, and goneLimit all of the leave.
	leaveLimit = 3 * time.Second
	goneLimit  = 5 * time.Second
	// nameLimit is how long a stop waits for the answer to a first join, and nameLook how often it looks.
	nameLimit = 2 * time.Second
	nameLook  = 10 * time.Millisecond
	// patienceAtStop is how long Consume may take to return once no task runs, before the connections are cut under it.
	patienceAtStop = time.Second
)

// membership is one Run: the group, the connections, and what belongs to them.
type membership struct {
	*Consumer
	run     context.Context       // of Run
	plan    *config.Plan          // with the brokers' limits
	tasks   *handler.GroupHandler // of this plan
	group   sarama.ConsumerGroup
	link    *link.Link     // nil over a ConsumerGroup of the user
	conf    *sarama.Config // nil over a ConsumerGroup of the user
	commits *commit.Loop   // nil over a ConsumerGroup of the user

	unstored    unstored
	lateCommits *throttle // of the commit loop
	toldLimit   bool      // that a text was too long. Of the commit loop

	followUp *followUp
	wasted   float64 // task-seconds, by the latest assignment. Of sarama's rebalance path
	alone    bool    // our own strategy is offered, and no other

	helpers sync.WaitGroup // error pump and commit loop

	mu     sync.Mutex
	round  *round   // the Consume that is under way
	tenure *tenure  // the latest; nil over a ConsumerGroup of the user
	known  []string // the topics that were there when somebody last looked

	stopTold sync.Once
	deadline time.Time // end of the grace of a stop; zero before

	decide  sync.Once // see willDrain
	decided bool
}

// live consumes until ctx ends or a fatal error comes, and leaves.
func (m *membership) live(ctx context.Context) error {
	m.watched.of(m)
	background, end := context.WithCancel(context.WithoutCancel(ctx))
	m.helpers.Go(func() { m.pump(background) }) // ends with background, or when the group is closed
	if m.commits != nil {
		m.helpers.Go(func() { m.commits.Run(background) }) // ends with background
	}
	err := m.consume(ctx)
	if err != nil {
		m.hooks.failed(err)
	}
	m.watched.enter(StateStopping)
	if err == nil {
		m.tellStop(ctx)
		m.drain(ctx)
	}
	m.followUp.stop()
	m.dismiss()
	m.leave()
	end()
	m.helpers.Wait()
	if m.commits != nil {
		m.commits.GiveUp()
	}
	m.tellStrays()
	m.stopped(err)
	return err
}

// consume calls Consume again and again.
func (m *membership) consume(ctx context.Context) error {
	var tries backoff
	for !over(ctx) {
		m.watched.enter(StateJoining)
		end, err := m.consumeOnce(ctx)
		if over(ctx) {
			break // what it ended with is our own doing
		}
		if fatal := m.between(ctx, end, err, &tries); fatal != nil {
			return fatal
		}
	}
	return nil
}

// between decides what follows a Consume: the next one, now or after a pause, or the end of Run.
func (m *membership) between(ctx context.Context, end sessionEnd, err error, tries *backoff) (fatal error) {
	switch {
	case err != nil:
		return m.tryLater(ctx, tries, "the group cannot be joined or was lost: trying again", err)
	case end.calm():
		tries.reset()
	default: // sessions that end by themselves at once must not spin
		m.pauseQuietly(ctx, tries)
	}
	return nil
}

func (m *membership) pauseQuietly(ctx context.Context, b *backoff) {
	d := b.next()
	m.log.LogAttrs(ctx, slog.LevelDebug, "pausing before the next session", slog.Duration("pause", d))
	_ = link.Sleep(ctx, d)
}

// leave ends the membership: the member leaves the group over a fresh binding, for the old one is cut, and the connections close. A
// group or client of the user stays open.
func (m *membership) leave() {
	if m.link == nil {
		return
	}
	gone, done := context.WithTimeout(context.Background(), goneLimit)
	defer done()
	ctx, cancel := context.WithTimeout(gone, leaveLimit)
	defer cancel()
	unbind := m.link.Bind(ctx)
	defer unbind()
	var err error
	closed := make(chan struct{})
	go func() { // ends with the binding, at the latest with the link
		defer close(closed)
		err = errors.Join(m.group.Close(), m.leaveAsStatic(ctx))
	}()
	select {
	case <-closed:
		m.left(err)
	case <-ctx.Done():
		m.left(context.Cause(ctx))
	}
	if err := m.link.Close(); err != nil {
		m.log.Debug("connections are still closing", slog.Any("error", err))
	}
	select {
	case <-closed:
	case <-gone.Done():
		m.log.Debug("the group is still closing")
	}
}

// left says how the leave went, where it did not. A member that never was one has nobody to tell.
func (m *membership) left(err error) {
	if late, ok := errors.AsType[*sarama.ConsumerError](err); ok {
		m.hooks.failed(late)
	}
	if m.told(err) || !m.watched.everJoined() {
		return
	}
	m.log.Warn("the group could not be told that this member leaves: its partitions move when the session timeout is over",
		slog.Any("error", err), slog.Duration("session_timeout", m.plan.SessionTimeout))
	m.hooks.failed(fmt.Errorf("leave group %s: %w", m.cfg.Group, err))
}

// told says that the group knows of the leave, or need not know. err is what Close of sarama's group has returned: that of the leave,
// or any error of the group that nobody had received by then.
func (m *membership) told(err error) bool {
	_, late := errors.AsType[*sarama.ConsumerError](err)
	_, answer := errors.AsType[sarama.KError](err)
	switch {
	case err == nil:
		return true
	case late:
		return m.link.Left() || m.instanceID() != nil // a static member does not leave
	default:
		return m.link.Left() && !answer
	}
}

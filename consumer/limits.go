package consumer

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/link"
)

// limitsTimeout bounds the look at the brokers' settings, which are not worth waiting for.
const limitsTimeout = 3 * time.Second

// Names of the broker settings that bound a member's.
const (
	minSession  = "group.min.session.timeout.ms"
	maxSession  = "group.max.session.timeout.ms"
	maxMetadata = "offset.metadata.max.bytes"
)

// withLimits works the limits of the group's coordinator into the plan where they can be read; else the defaults are assumed, and a
// refusal of the session timeout is explained. A user who may not read them, or a broker that knows no such request, is no fault.
func (m *membership) withLimits(ctx context.Context, l *link.Link) *config.Plan {
	ctx, cancel := context.WithTimeout(ctx, limitsTimeout)
	defer cancel()
	told, err := l.Settings(ctx, minSession, maxSession, maxMetadata)
	if err != nil {
		m.log.DebugContext(ctx, "the brokers' limits cannot be read: assuming the defaults", slog.Any("error", err))
		return m.cfg.Plan
	}
	plan, err := m.cfg.Plan.WithBroker(limitsOf(told))
	if err != nil {
		m.log.WarnContext(ctx, "the plan does not fit the brokers' limits: going on with it as it is", slog.Any("error", err))
		return m.cfg.Plan
	}
	return plan
}

func limitsOf(told map[string]string) config.BrokerLimits {
	number := func(name string) int {
		n, _ := strconv.Atoi(told[name]) // 0 leaves the default
		return n
	}
	return config.BrokerLimits{
		MinSessionTimeout: time.Duration(number(minSession)) * time.Millisecond,
		MaxSessionTimeout: time.Duration(number(maxSession)) * time.Millisecond,
		MaxMetadataBytes:  number(maxMetadata),
	}
}

// follow puts a plan in force, before anything is joined or claimed: for this member, its tasks and its joins.
func (m *membership) follow(plan *config.Plan, l *link.Link) error {
	tasks, err := handler.New(m.work, m.cfg.handlerOptions(plan))
	if err != nil {
		return err
	}
	m.plan, m.tasks = plan, tasks
	m.Consumer.tasks.Store(tasks)
	l.JoinWithin(plan.JoinReadTimeout)
	return nil
}

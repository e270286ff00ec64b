package consumer

import (
	"context"
	"log/slog"
)

// tellStop says, once, what the tasks that run have to expect of a stop.
func (m *membership) tellStop(ctx context.Context) {
	m.stopTold.Do(func() {
		s := m.tasks.Status()
		m.log.InfoContext(ctx, "stopping: "+m.outlook(), slog.Int("running", s.Running-s.Stray), slog.Duration("grace", m.plan.StopGrace))
	})
}

func (m *membership) outlook() string {
	const outside = "; the partitions go to others when the member has left"
	switch p := m.plan; {
	case !m.works():
		return "no task runs"
	case p.StopCancelFirst:
		return "running tasks are cancelled now, and have the grace to return (config.Input.StopGrace lets them go on)" + outside
	case m.drains():
		return "running tasks have until the end of the grace and are cancelled then; others get the partitions on which nothing runs " +
			"meanwhile, and the rest as their tasks end"
	default:
		return "running tasks have until the end of the grace, or of that of a rebalance if one comes, and are cancelled then" + outside
	}
}

// tellStrays says that tasks which ignore their context outlive Run.
func (m *membership) tellStrays() {
	if n := m.tasks.Status().Stray; n > 0 {
		m.log.Warn("tasks that did not return when they were cancelled outlive Run: their results are dropped, and Consumer.Wait waits for their end",
			slog.Int("running", n))
	}
}

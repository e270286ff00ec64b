package config

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/IBM/sarama"
)

const (
	sessionField   = "Consumer.Group.Session.Timeout"
	heartbeatField = "Consumer.Group.Heartbeat.Interval"
	rebalanceField = "Consumer.Group.Rebalance.Timeout"
	failover       = 20 * time.Second // a coordinator's failover takes 9 to 13 s, and a heartbeat has to follow
	slowHeartbeat  = 10 * time.Second
	releaseAtLeast = time.Second // closing a claim and the last commit
	retryAtLeast   = 10 * time.Second
	backoffLeast   = 50 * time.Millisecond
	backoffMost    = time.Second
)

// timeouts looks at the heartbeat last, since it has to fit the other two.
func (c *checker) timeouts() {
	g, p := c.cfg.Consumer.Group, c.plan
	c.session, c.gather = g.Session.Timeout, g.Rebalance.Timeout
	if c.first(sessionField, c.session, append(wire(c.session, brief(p.SessionTimeout)), c.sessionRules()...)...) {
		c.session = p.SessionTimeout
	}
	if c.first(rebalanceField, c.gather, append(wire(c.gather, brief(p.RebalanceTimeout)), c.rebalanceRules()...)...) {
		c.gather = p.RebalanceTimeout
	}
	h := g.Heartbeat.Interval
	c.first(heartbeatField, h, append(wire(h, c.heartbeatUse()), c.heartbeatRules()...)...)
}

func (c *checker) sessionRules() []rule {
	s, use := c.session, brief(c.plan.SessionTimeout)
	low, high := c.plan.Input.sessionLimits()
	asPlanned := s == c.plan.SessionTimeout
	return []rule{
		{s < low, "the broker refuses it, group.min.session.timeout.ms is " + brief(low), use},
		{s > high, "the broker refuses it, group.max.session.timeout.ms is " + brief(high), use},
		{
			c.taskLong() && s < failover && !asPlanned,
			"a network pause or a coordinator's failover (9 to 13 s) ends the session, and every running task starts again", use,
		},
		{
			s > sessionCeiling && c.cfg.Consumer.Group.InstanceId == "" && !asPlanned,
			"a crashed member's partitions lie idle that long, and heartbeats do not wait for tasks, so it buys nothing", use,
		},
	}
}

func (c *checker) rebalanceRules() []rule {
	r, p, use := c.gather, c.plan, brief(c.plan.RebalanceTimeout)
	heartbeat := c.cfg.Consumer.Group.Heartbeat.Interval
	return []rule{
		{
			r < heartbeat+p.Grace+releaseAtLeast && r != p.RebalanceTimeout,
			fmt.Sprintf("hearing of a rebalance (%s), grace (%s) and release take longer: the broker expels the member meanwhile",
				brief(heartbeat), brief(p.Grace)), use,
		},
		{
			r > newcomerPatience,
			"one member that does not let go holds up the group that long, and the broker expels a newcomer that waits 5m", use,
		},
	}
}

func (c *checker) heartbeatUse() string {
	return brief(whole(min(heartbeatAim, c.session/3, c.gather/3)))
}

func (c *checker) heartbeatRules() []rule {
	g, use := c.cfg.Consumer.Group, c.heartbeatUse()
	h, s, r := g.Heartbeat.Interval, min(g.Session.Timeout, c.session), min(g.Rebalance.Timeout, c.gather)
	session, gather := bound(sessionField, s, g.Session.Timeout), bound(rebalanceField, r, g.Rebalance.Timeout)
	return []rule{
		{h >= s, "it has to be shorter than " + session + ", or the broker never hears one in time", use},
		{h > s/3, "it is more than a third of " + session + ": one late heartbeat ends the session", use},
		{h > r/3, "it is more than a third of " + gather + ": the member hears of a rebalance when it is nearly over", use},
		{h > slowHeartbeat && h != c.plan.HeartbeatInterval, "it carries the rebalance signal: the whole group waits that long", use},
	}
}

// bound names the field that another one has to fit, with its value, or with the one that it should have.
func bound(field string, d, found time.Duration) string {
	if d != found {
		return fmt.Sprintf("%s, which should be %s", field, brief(d))
	}
	return fmt.Sprintf("%s, %s", field, brief(d))
}

func (c *checker) membership() {
	id := c.cfg.Consumer.Group.InstanceId
	c.report(id != "" && !legalInstanceID(id), "Consumer.Group.InstanceId", strconv.Quote(clip(id)), "broker and sarama refuse it", instanceIDRule())
	c.report(!c.cfg.Consumer.Group.ResetInvalidOffsets, "Consumer.Group.ResetInvalidOffsets", false,
		"when retention has removed the committed offset, the claim cannot start and ends the session, again and again", "true")
	c.version()
}

func (c *checker) version() {
	if !wellFormed(c.cfg) {
		return
	}
	need, why := leastVersion(c.cfg, sarama.V0_10_2_0)
	c.report(!c.cfg.Version.IsAtLeast(need), "Version", c.cfg.Version, why, need.String()+" or newer")
}

// wellFormed says that there are strategies and that one may look at them.
func wellFormed(cfg *sarama.Config) bool {
	list := strategies(cfg)
	return len(list) > 0 && !slices.Contains(list, nil)
}

func (c *checker) rebalance() {
	r := c.cfg.Consumer.Group.Rebalance
	c.strategies(r.Strategy, r.GroupStrategies)
	c.retries(r.Retry.Max, r.Retry.Backoff)
}

// retries looks at the backoff first: how many are needed depends on it.
func (c *checker) retries(most int, backoff time.Duration) {
	wrong := c.first("Consumer.Group.Rebalance.Retry.Backoff", backoff,
		rule{backoff > backoffMost, "the whole group stands still during each wait", brief(retryBackoff)},
		rule{backoff < backoffLeast, "the coordinator is asked that often for nothing", brief(retryBackoff)},
	)
	if wrong {
		backoff = retryBackoff
	}
	need := int((retryAtLeast + backoff - 1) / backoff)
	c.report(most < need, "Consumer.Group.Rebalance.Retry.Max", most,
		brief(backoff)+" apart, they end before a coordinator's failover (9 to 13 s) does, and the session with them", strconv.Itoa(need))
}

func (c *checker) strategies(single sarama.BalanceStrategy, listed []sarama.BalanceStrategy) {
	const use = "those of handler.GroupHandler.BalanceStrategies, or cooperative-sticky alone; a group that runs another one gets there in two rollouts, first both, then the new one"
	c.report(single != nil && len(listed) > 1, "Consumer.Group.Rebalance.Strategy", names([]sarama.BalanceStrategy{single}),
		"this deprecated field overrides GroupStrategies, "+names(listed), "GroupStrategies alone")
	list := strategies(c.cfg)
	if !wellFormed(c.cfg) {
		c.report(true, strategiesField, names(list), "sarama refuses a list that is empty or has nil in it", use)
		return
	}
	found := styleOf(list)
	c.first(strategiesField, names(list),
		rule{repeats(list), "sarama takes the first of a name, the group knows them by it", "each once"},
		rule{found == disjoint, "no rebalance protocol is supported by every entry", use},
		rule{found == eager && anyCooperative(list), "an eager entry makes the whole list eager: every rebalance stops all members", use},
		rule{found == eager && c.taskLong() && !anySticky(list), "every rebalance moves partitions that could stay, and their tasks start again", use},
	)
}

func repeats(list []sarama.BalanceStrategy) bool {
	seen := map[string]bool{}
	for _, s := range list {
		seen[s.Name()] = true
	}
	return len(seen) < len(list)
}

func anyCooperative(list []sarama.BalanceStrategy) bool {
	return slices.ContainsFunc(list, func(s sarama.BalanceStrategy) bool { return Supports(s, sarama.RebalanceProtocolCooperative) })
}

// anySticky tells sarama's own apart; a strategy that it does not know gets the benefit of the doubt.
func anySticky(list []sarama.BalanceStrategy) bool {
	return slices.ContainsFunc(list, func(s sarama.BalanceStrategy) bool {
		return s.Name() != sarama.RangeBalanceStrategyName && s.Name() != sarama.RoundRobinBalanceStrategyName
	})
}

package config

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/IBM/sarama"
)

// Check names the faults of a hand-made sarama.Config for a plain consumer group whose tasks usually take d. It is
// [Input.Check] with only Expected set.
func Check(cfg *sarama.Config, d time.Duration) []Fault { return Input{Expected: d}.Check(cfg) }

// Check names the faults of a hand-made sarama.Config for a plain consumer group, in the light of what the input says about tasks,
// group and broker. Each fault has the field, its value, why it is one, and what to use instead. No fault: nil. cfg is not modified.
//
// Not every value that differs from the plan's is a fault: only those that lose messages, stop the group or other partitions, keep
// tasks running without membership, or that broker or sarama refuse. What [Plan.Apply] makes of sarama's defaults for the same input
// has none. What [Plan.ApplyMember] returns has some, because it is not for a plain group.
//
// A nil cfg is one fault, and so is an input that no plan can be derived from. The protocol is that of cfg's strategies;
// Eager is not looked at.
func (in Input) Check(cfg *sarama.Config) []Fault {
	if cfg == nil {
		return []Fault{{Field: "cfg", Value: "nil", Why: "there is nothing to check", Use: "sarama.NewConfig(), or plan.Apply(nil)"}}
	}
	in.Eager = wellFormed(cfg) && styleOf(strategies(cfg)) != cooperative
	p, err := in.Plan()
	if err != nil {
		return inputFaults(err)
	}
	c := &checker{cfg: cfg, plan: p}
	c.timeouts()
	c.membership()
	c.rebalance()
	c.network()
	c.fetching()
	c.offsets()
	c.sarama()
	return c.faults
}

func inputFaults(err error) []Fault {
	if f, ok := errors.AsType[*FaultError](err); ok {
		return []Fault{f.Fault}
	}
	return []Fault{{Field: "Input", Value: "invalid", Why: err.Error(), Use: "an Input that Input.Plan accepts"}}
}

// checker collects the faults of one config.
type checker struct {
	cfg    *sarama.Config
	plan   *Plan
	faults []Fault

	// What session and rebalance timeout are once their faults are mended: what other fields have to fit.
	session, gather time.Duration
}

// report adds a fault when there is one.
func (c *checker) report(found bool, field string, value any, why, use string) {
	if !found {
		return
	}
	c.faults = append(c.faults, Fault{Field: field, Value: show(value), Why: why, Use: use})
}

// first reports the first fault that was found of a list about one field: the others follow from it.
func (c *checker) first(field string, value any, rules ...rule) (found bool) {
	for _, r := range rules {
		if r.found {
			c.report(true, field, value, r.why, r.use)
			return true
		}
	}
	return false
}

// rule is one thing that can be wrong with a field.
type rule struct {
	found    bool
	why, use string
}

func show(value any) string {
	if d, ok := value.(time.Duration); ok {
		return brief(d)
	}
	return fmt.Sprint(value)
}

// taskLong says that a lost task is worth more than a little traffic.
func (c *checker) taskLong() bool { return c.plan.Input.Expected >= time.Second }

// wire reports what cannot be sent: the protocol has 32 bit signed milliseconds, and sarama cuts off without a word.
func wire(d time.Duration, use string) []rule {
	return []rule{
		{d < time.Millisecond, "it is sent in milliseconds, and less than one is none", use},
		{d > maxWire, "it is sent as 32 bit milliseconds and overflows", use},
		{d != whole(d), "it is sent in milliseconds, the rest is cut off", use},
	}
}

// sarama adds what sarama itself refuses. Validate may fill in a default, so it gets a copy.
func (c *checker) sarama() {
	cfg := *c.cfg
	if err := cfg.Validate(); err != nil {
		c.report(true, "sarama.Config", "invalid", "sarama refuses it: "+err.Error(), "what the message asks for")
	}
}

// window is the zombie window of the config, without overflow.
func (c *checker) window() time.Duration {
	retries := max(c.cfg.Metadata.Retry.Max, 0)
	w := float64(c.cfg.Consumer.Group.Heartbeat.Interval) + float64(c.cfg.Net.ReadTimeout) + float64(retries)*float64(c.cfg.Net.DialTimeout)
	if w > math.MaxInt64/2 {
		return math.MaxInt64 / 2
	}
	return time.Duration(w).Round(time.Millisecond)
}

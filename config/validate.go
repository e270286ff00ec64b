package config

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/IBM/sarama"
)

// The bounds of an Input.
const (
	day          = 24 * time.Hour
	minExpected  = time.Millisecond
	maxExpected  = 7 * day
	maxMax       = 30 * day
	maxGrace     = 4 * time.Minute
	maxStopGrace = 7 * day
	minHeartbeat = 10 * time.Millisecond
	maxHeartbeat = 30 * time.Second
	refreshLeast = 100 * time.Millisecond
	// minSession is below every broker's default; it leaves room for a few heartbeats and one fetch. Brokers for tests go there.
	minSession = 500 * time.Millisecond
)

// bounded is a duration with its bounds; a zero value is the default unless it is required.
type bounded struct {
	field           string
	value, min, max time.Duration
	required        bool
	none            string // a constant that is a value too: NoGrace or NoHold
	why             string
}

func (b bounded) check() error {
	unset := b.value == 0 && !b.required
	if unset || b.none != "" && b.value == NoGrace || b.min <= b.value && b.value <= b.max {
		return nil
	}
	use := brief(b.min) + " to " + brief(b.max)
	switch {
	case b.none != "":
		use = "up to " + brief(b.max) + ", 0 for the derived one, or config." + b.none
	case 0 < b.value && b.value < unitless && b.value < b.min:
		use += "; a bare number is nanoseconds: write 5*time.Minute"
	}
	return inputFault(b.field, brief(b.value), orNegative(b.value, b.why), use)
}

// unitless is how short a duration has to be to be one whose unit was forgotten.
const unitless = 10 * time.Microsecond

// orNegative is why a duration is refused: nothing else counts where it is negative.
func orNegative(d time.Duration, why string) string {
	if d < 0 {
		return "it is negative"
	}
	return why
}

// checkBounds looks at each field alone.
func (in Input) checkBounds() error {
	for _, b := range in.bounds() {
		if err := b.check(); err != nil {
			return err
		}
	}
	return cmp.Or(in.checkInstanceID(), in.checkMetadataBytes())
}

func (in Input) bounds() []bounded {
	return []bounded{
		{
			field: "Expected", value: in.Expected, min: minExpected, max: maxExpected, required: true,
			why: "everything is derived from how long a task usually takes",
		},
		{
			field: "Max", value: in.Max, min: minExpected, max: maxMax,
			why: "it is the longest task that is still normal",
		},
		{
			field: "Grace", value: in.Grace, min: time.Nanosecond, max: maxGrace, none: "NoGrace",
			why: "the broker expels a newcomer that has waited 5m to join, so no rebalance may take longer",
		},
		{
			field: "StopGrace", value: in.StopGrace, min: time.Nanosecond, max: maxStopGrace, none: "NoGrace",
			why: "it is how long a stopping member waits for its tasks",
		},
		{
			field: "HoldLimit", value: in.HoldLimit, min: time.Nanosecond, max: maxMax, none: "NoHold",
			why: "it is how long a task may keep its partition from moving",
		},
		{
			field: "Heartbeat", value: in.Heartbeat, min: minHeartbeat, max: maxHeartbeat,
			why: "it carries the rebalance signal: the group waits that long for this member to hear of a newcomer",
		},
		{
			field: "MetadataRefresh", value: in.MetadataRefresh, min: refreshLeast, max: refreshMost,
			why: "new partitions and topics are noticed by it alone",
		},
		{
			field: "GroupRebalanceTimeout", value: in.GroupRebalanceTimeout, min: time.Millisecond, max: maxWire,
			why: "it is a rebalance timeout that a broker has accepted, 32 bit milliseconds",
		},
		{
			field: "Broker.MinSessionTimeout", value: in.Broker.MinSessionTimeout, min: time.Millisecond, max: maxWire,
			why: "it is group.min.session.timeout.ms, 32 bit milliseconds",
		},
		{
			field: "Broker.MaxSessionTimeout", value: in.Broker.MaxSessionTimeout, min: minSession, max: maxWire,
			why: "it is group.max.session.timeout.ms, and a shorter session leaves no room for heartbeats",
		},
	}
}

// checkInstanceID applies the rule that the broker and sarama have (KIP-345: the name must be a legal topic name).
func (in Input) checkInstanceID() error {
	id := in.InstanceID
	if id == "" || legalInstanceID(id) {
		return nil
	}
	return inputFault("InstanceID", strconv.Quote(clip(id)), "the broker refuses it as group.instance.id", instanceIDRule())
}

func legalInstanceID(id string) bool {
	return id != "." && id != ".." && len(id) <= sarama.MAX_GROUP_INSTANCE_ID_LENGTH && sarama.GROUP_INSTANCE_ID_REGEXP.MatchString(id)
}

func instanceIDRule() string {
	return fmt.Sprintf(`1 to %d of the characters a-z A-Z 0-9 . _ - but not "." or ".."`, sarama.MAX_GROUP_INSTANCE_ID_LENGTH)
}

// clip keeps an over-long name from filling the log.
func clip(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}

func (in Input) checkMetadataBytes() error {
	if n := in.Broker.MaxMetadataBytes; n < 0 {
		return inputFault("Broker.MaxMetadataBytes", strconv.Itoa(n), "it is offset.metadata.max.bytes", "0 for the default, or a positive number")
	}
	return nil
}

// checkMax runs with Max filled in.
func (in Input) checkMax() error {
	if in.Max >= in.Expected {
		return nil
	}
	return inputFault("Max", brief(in.Max), "the longest normal task cannot be shorter than Expected, "+brief(in.Expected),
		brief(in.Expected)+" or more, or 0 for 3 × Expected")
}

// checkBroker runs with the limits filled in.
func (in Input) checkBroker() error {
	low, high := in.sessionLimits()
	if low <= high {
		return nil
	}
	return inputFault("Broker.MinSessionTimeout", brief(in.Broker.MinSessionTimeout),
		"it is above Broker.MaxSessionTimeout, "+brief(in.Broker.MaxSessionTimeout),
		"the broker's group.min.session.timeout.ms and group.max.session.timeout.ms for both fields")
}

// sessionLimits are the broker's limits in whole milliseconds.
func (in Input) sessionLimits() (low, high time.Duration) {
	return wholeUp(max(in.Broker.MinSessionTimeout, minSession)), whole(in.Broker.MaxSessionTimeout)
}

func (in Input) checkCrashDetection() error {
	low, high := in.sessionLimits()
	if s := whole(in.CrashDetection); in.CrashDetection == 0 || low <= s && s <= high {
		return nil
	}
	return inputFault("CrashDetection", brief(in.CrashDetection),
		orNegative(in.CrashDetection, "it is the session timeout, and the broker refuses one outside its limits "+
			"(group.min.session.timeout.ms, group.max.session.timeout.ms; fields Broker.MinSessionTimeout, Broker.MaxSessionTimeout)"),
		fmt.Sprintf("%s to %s, or 0 for the derived one", brief(low), brief(high)))
}

// checkHeartbeat runs with everything else checked, since the session timeout is derived.
func (in Input) checkHeartbeat() error {
	session := in.session()
	if in.Heartbeat <= session/3 {
		return nil
	}
	third := whole(min(session/3, maxHeartbeat))
	return inputFault("Heartbeat", brief(in.Heartbeat),
		fmt.Sprintf("it is more than a third of the session timeout, which is %s (%s): one late heartbeat would end the session",
			brief(session), in.sessionSource()),
		fmt.Sprintf("Heartbeat of %s or less, or CrashDetection of %s or more", brief(third), brief(wholeUp(3*in.Heartbeat))))
}

func (in Input) sessionSource() string {
	if in.CrashDetection > 0 {
		return "CrashDetection"
	}
	return "derived; CrashDetection sets it"
}

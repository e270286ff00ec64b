package config

import (
	"fmt"
	"strconv"
	"strings"
)

// String is a table for people: each value, the sarama.Config field it goes to, and the reason. Lines have up to 110 columns.
// The text is not for programs: it changes between versions.
func (p *Plan) String() string {
	if p.isZero() {
		return "no plan: make one with config.For or config.Input.Plan"
	}
	derived, both, plain, member := p.derivedRows(), p.bothRows(), p.plainRows(), p.memberRows()
	t := newTable(append(append(append(derived, both...), plain...), member...))
	t.section(p.heading(), derived)
	t.section("Also set by Apply and ApplyMember", both)
	t.section("Only by Apply, for a sarama.ConsumerGroup of your own", plain)
	t.section("Only by ApplyMember, for package consumer", member)
	return t.b.String()
}

func (p *Plan) heading() string {
	in := p.Input
	member := "a dynamic member"
	if in.InstanceID != "" {
		member = "static member " + clip(in.InstanceID)
	}
	return fmt.Sprintf("Plan for tasks of %s, up to %s: %s rebalancing, %s", brief(in.Expected), brief(in.Max), p.style(), member)
}

func (p *Plan) derivedRows() []row {
	return append(p.groupRows(), p.fetchRows()...)
}

func (p *Plan) groupRows() []row {
	const group = "Consumer.Group."
	return []row{
		{"SessionTimeout", brief(p.SessionTimeout), group + "Session.Timeout", p.sessionWhy()},
		{"HeartbeatInterval", brief(p.HeartbeatInterval), group + "Heartbeat.Interval", p.heartbeatWhy()},
		{"RebalanceTimeout", brief(p.RebalanceTimeout), group + "Rebalance.Timeout", p.rebalanceWhy()},
		{"Grace", brief(p.Grace), "", p.graceWhy()},
		{"CancelFirst", strconv.FormatBool(p.CancelFirst), "", p.cancelFirstWhy()},
		{"StopGrace", brief(p.StopGrace), "", p.stopGraceWhy()},
		{"StopCancelFirst", strconv.FormatBool(p.StopCancelFirst), "", p.stopCancelFirstWhy()},
		{"HoldLimit", brief(p.HoldLimit), "", p.holdWhy()},
		{"Lease", brief(p.Lease), "", p.leaseWhy()},
		{"JoinReadTimeout", brief(p.JoinReadTimeout), "", p.joinWhy()},
		{"CallTimeout", brief(p.CallTimeout), "", "dial and answer of any other coordinator request: a frozen coordinator costs a new connection, not the session"},
		{"Patience", brief(p.Patience), "", "one look for the coordinator: with sarama's retries it outlives a failover, 9 to 13 s"},
		{
			"RebalanceRetryMax", strconv.Itoa(p.RebalanceRetryMax), group + "Rebalance.Retry.Max",
			"10 s in all: running out ends the session and with it the claims that a rebalance would have kept",
		},
		{
			"RebalanceRetryBackoff", brief(p.RebalanceRetryBackoff), group + "Rebalance.Retry.Backoff",
			"the group stands still during each wait, so many short ones",
		},
	}
}

func (p *Plan) sessionWhy() string {
	in := p.Input
	low, high := in.sessionLimits()
	why := fmt.Sprintf("1.2 × Expected, at least %s and at most %s", brief(sessionFloor), brief(sessionCeiling))
	if in.CrashDetection > 0 {
		why = "as CrashDetection asks"
	}
	why += fmt.Sprintf("; the broker takes %s to %s. After a crash the partitions lie idle this long. It need not exceed a task: heartbeats do not wait for tasks", brief(low), brief(high))
	if in.InstanceID != "" {
		why += ". It is also how long a restart of this static member may take before its partitions move"
	}
	return why
}

func (p *Plan) heartbeatWhy() string {
	if p.Input.Heartbeat > 0 {
		return "as Heartbeat asks; it carries the rebalance signal, and at most a third of the session and rebalance timeouts survives a lost one"
	}
	return "3s, or a third of the session or rebalance timeout: it carries the rebalance signal"
}

func (p *Plan) rebalanceWhy() string {
	const bounds = ". It bounds the lease too, and a frozen member holds up the group no longer"
	switch {
	case p.Input.Grace > 0:
		return "room for the grace, a heartbeat and the release of the claims, or more where it would be more without a Grace" + bounds
	case p.Input.short():
		return "1.2 × Max, a heartbeat, and 12s to release the claims" + bounds
	}
	return fmt.Sprintf("the session timeout, at most %s: no rebalance waits for a task, only for its winding down", brief(rebalanceCap)) + bounds
}

func (p *Plan) graceWhy() string {
	in := p.Input
	switch {
	case in.Grace == NoGrace:
		return "none, as Grace asks: a revoked claim returns at once"
	case in.Grace > 0:
		return "as Grace asks: a revoked claim waits that long for its tasks"
	case in.short():
		return fmt.Sprintf("1.2 × Max: every normal task ends before its claim is given up, and the others wait no longer than %s rebalancing bears", p.style())
	}
	return "tasks are too long to be waited for; this is their time to wind down"
}

func (p *Plan) cancelFirstWhy() string {
	if p.CancelFirst {
		return "a revocation cancels the tasks at the start of the grace"
	}
	return "a revocation cancels the tasks at the end of the grace"
}

func (p *Plan) stopGraceWhy() string {
	in := p.Input
	switch {
	case in.StopGrace == NoGrace:
		return "none, as StopGrace asks: a stopping member cancels its tasks at once"
	case in.StopGrace > 0:
		return "as StopGrace asks: a stopping member waits that long for its tasks, then cancels them; others get its idle partitions meanwhile"
	case slack(in.Max) <= stopWithin:
		return "1.2 × Max: every normal task ends before the member leaves, within the 30s that Kubernetes grants"
	}
	return "tasks may be longer than the 30s that Kubernetes grants: they are cancelled at once, and this is their time to wind down"
}

func (p *Plan) stopCancelFirstWhy() string {
	if p.StopCancelFirst {
		return "a stop cancels the tasks at the start of StopGrace"
	}
	return "a stop cancels the tasks at the end of StopGrace"
}

func (p *Plan) holdWhy() string {
	in := p.Input
	switch {
	case in.HoldLimit == NoHold:
		return "none, as NoHold asks: partitions move although tasks run there"
	case in.HoldLimit > 0:
		return "as HoldLimit asks: a partition that has to move waits that long for a running task, then cancels it"
	case p.HoldLimit == 0:
		return "none: tasks are expected to take less than 10s, and a rebalance waits for them, as Grace says"
	}
	return "Max: a partition that has to move waits for its running tasks, and a task that is longer than any normal one is then cancelled"
}

func (p *Plan) leaseWhy() string {
	shorter := min(p.SessionTimeout, p.RebalanceTimeout)
	return fmt.Sprintf("the shorter of session and rebalance timeout, %s, less %s to react: without a good heartbeat for so long the tasks are cancelled before others can have their partitions (package consumer only)",
		brief(shorter), brief(shorter-p.Lease))
}

func (p *Plan) joinWhy() string {
	if p.Input.GroupRebalanceTimeout > p.RebalanceTimeout {
		return "GroupRebalanceTimeout and 5s: the broker answers a join when the slowest member is ready"
	}
	return "the rebalance timeout and 5s: the broker answers a join when the slowest member is ready; set GroupRebalanceTimeout if others have a longer one"
}

func (p *Plan) fetchRows() []row {
	return []row{
		{
			"ChannelBufferSize", strconv.Itoa(p.ChannelBufferSize), "ChannelBufferSize",
			"2s of work, 1 to 256: each buffered message is one more to hand back at a rebalance, and 0 loses the group's errors",
		},
		{
			"MaxProcessingTime", brief(p.MaxProcessingTime), "Consumer.MaxProcessingTime",
			"never from the task: raised, a busy partition stops the fetches of all others on its broker",
		},
		{
			"FetchDefault", size(int64(p.FetchDefault)), "Consumer.Fetch.Default",
			"less for longer tasks: what is fetched lies in memory meanwhile. Larger messages still arrive",
		},
		{
			"MaxWaitTime", brief(p.MaxWaitTime), "Consumer.MaxWaitTime",
			"a claim that is given up waits for the fetch under way, and so does a metadata refresh",
		},
		{
			"MetadataRefresh", brief(p.MetadataRefresh), "Metadata.RefreshFrequency",
			"nothing else notices partitions and topics that were added",
		},
		{"CommitInterval", brief(p.CommitInterval), "", p.commitWhy()},
		{"BacklogMessages", strconv.Itoa(p.BacklogMessages), "", "a claim that holds so many messages pauses its fetches"},
		{"BacklogBytes", size(p.BacklogBytes), "", "or with so many bytes: memory stays bounded whatever lies on the topic"},
		{"CopyMessages", strconv.FormatBool(p.CopyMessages), "", p.copyWhy()},
	}
}

func (p *Plan) commitWhy() string {
	if p.CommitInterval == 0 {
		return "each finished task is committed at once: a crash repeats nothing that was done"
	}
	return "tasks below 100ms are committed together: one commit a task would cost more than the task"
}

func (p *Plan) copyWhy() string {
	if p.CopyMessages {
		return "a message is a slice of its whole fetch response, which a long task would keep in memory"
	}
	return "tasks are short, the fetch response is soon free"
}

func (p *Plan) bothRows() []row {
	strategy := strings.Trim(names(p.ownStrategies()), "[]")
	return []row{
		{"Strategy", strategy, strategiesField, "where base has sarama's default, range, which moves partitions that could stay; package consumer offers evenkeel in its place, which waits for running tasks"},
		{"Offsets.Initial", "oldest", "Consumer.Offsets.Initial", "newest loses the first messages when their task is interrupted before any commit"},
		{"ResetInvalid", "true", "Consumer.Group.ResetInvalidOffsets", "an offset that retention removed would end every session at its start"},
		{"Fetch.Max", "0", "Consumer.Fetch.Max", "no limit: with one sarama skips the messages above it"},
		{"Retry.Max", "0", "Consumer.Retry.Max", "no limit: running out closes the claim, which ends the session"},
		{"Return.Errors", "true", "Consumer.Return.Errors", "a failed commit or claim is seen nowhere else; read the channel"},
		{"DialTimeout", brief(p.CallTimeout), "Net.DialTimeout", "part of every recovery, and of closing"},
		{"WriteTimeout", brief(transferTimeout), "Net.WriteTimeout", "at most; requests are small"},
	}
}

func (p *Plan) plainRows() []row {
	window := zombieWindow(p.HeartbeatInterval, p.plainRead(), p.CallTimeout, plainRetries)
	return []row{
		{
			"ReadTimeout", brief(p.plainRead()), "Net.ReadTimeout",
			"joins go over this connection too, see JoinReadTimeout. The price: with the coordinator cut off, tasks run on for up to " + brief(window),
		},
		{"Metadata.Retry", strconv.Itoa(plainRetries) + " × " + brief(metadataBackoff), "Metadata.Retry", "each one more lets tasks run on longer when the coordinator is cut off"},
		{"AutoCommit", "true", "Consumer.Offsets.AutoCommit.Enable", "off, marks are thrown away when a claim or the session ends"},
	}
}

func (p *Plan) memberRows() []row {
	return []row{
		{"ReadTimeout", brief(p.memberRead()), "Net.ReadTimeout", "no join goes over these connections; a hung leader holds up a claim's close that long"},
		{"Metadata.Retry", strconv.Itoa(memberRetries) + " × " + brief(metadataBackoff), "Metadata.Retry", "survives a coordinator's restart; the lease bounds it"},
		{"Metadata.Timeout", brief(metadataTimeout), "Metadata.Timeout", "caps refreshes that go on in the background"},
		{"AutoCommit", "false", "Consumer.Offsets.AutoCommit.Enable", "package consumer sends its own commits and marks nothing"},
	}
}

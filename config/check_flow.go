package config

import (
	"fmt"
	"strconv"
	"time"

	"github.com/IBM/sarama"
)

const (
	dialMost     = 10 * time.Second
	readSlack    = 30 * time.Second // above what joins need
	refreshMost  = 5 * time.Minute
	waitLeast    = 100 * time.Millisecond
	waitMost     = 500 * time.Millisecond
	bufferedWork = 10 * time.Second
)

// joinRead is the read timeout that joins in this group need.
func (c *checker) joinRead() time.Duration {
	return min(max(c.gather, c.plan.Input.GroupRebalanceTimeout), newcomerPatience) + joinMargin
}

func (c *checker) network() {
	n, m := c.cfg.Net, c.cfg.Metadata
	need := wholeUp(c.joinRead())
	zombie := "with the coordinator cut off, tasks run on for up to " + brief(c.window()) +
		" (heartbeat, read timeout, Metadata.Retry.Max dials); the broker gives their partitions away after " + brief(c.cfg.Consumer.Group.Session.Timeout)
	c.first("Net.ReadTimeout", n.ReadTimeout,
		rule{
			n.ReadTimeout < need,
			"a join is answered when the slowest member of the group is ready, up to " + rebalanceField + ": it would be cut off, which ends the session",
			brief(need),
		},
		rule{n.ReadTimeout-readSlack > need, zombie, brief(need) + ", or set Input.GroupRebalanceTimeout if other members need it"},
	)
	c.report(n.DialTimeout > dialMost, "Net.DialTimeout", n.DialTimeout, zombie, brief(callTimeout))
	c.first("Metadata.Retry.Max", m.Retry.Max,
		rule{m.Retry.Max > plainRetries, zombie, strconv.Itoa(plainRetries)},
		rule{m.Retry.Max < 1, "one lost heartbeat ends the session", strconv.Itoa(plainRetries)},
	)
	c.first("Metadata.RefreshFrequency", m.RefreshFrequency,
		rule{m.RefreshFrequency <= 0, "off, partitions that are added are never noticed", brief(refresh)},
		rule{m.RefreshFrequency > refreshMost, "partitions that are added are noticed that late", brief(refresh)},
	)
}

func (c *checker) fetching() {
	f, w, mpt := c.cfg.Consumer.Fetch, c.cfg.Consumer.MaxWaitTime, c.cfg.Consumer.MaxProcessingTime
	c.report(mpt > processingTime, "Consumer.MaxProcessingTime", mpt,
		"it is no limit for a task: raised, a busy partition stops the fetches of all others on its broker, and their revocation", brief(processingTime))
	c.buffer()
	c.report(f.Max > 0, "Consumer.Fetch.Max", f.Max, "a message above it is skipped, which loses it", "0")
	c.report(f.Default > 4*c.plan.FetchDefault, "Consumer.Fetch.Default", size(int64(f.Default)),
		"so much of each partition lies in memory for the length of a task", size(int64(c.plan.FetchDefault)))
	c.first("Consumer.MaxWaitTime", w, append(wire(w, brief(c.plan.MaxWaitTime)),
		rule{w > waitMost, "a claim that is given up waits for the fetch under way, and so do heartbeats on its connection", brief(c.plan.MaxWaitTime)},
		rule{w < waitLeast && w != c.plan.MaxWaitTime, "idle partitions are asked that often for nothing", brief(c.plan.MaxWaitTime)},
	)...)
}

func (c *checker) buffer() {
	n, want := c.cfg.ChannelBufferSize, c.plan.ChannelBufferSize
	most := max(want, int(bufferedWork/c.plan.Input.Expected))
	c.first("ChannelBufferSize", n,
		rule{n < 1, "it is also the size of the group's Errors channel: without a buffer errors are lost", strconv.Itoa(want)},
		rule{n > most, fmt.Sprintf("so many messages of each partition are still delivered after a revocation, %s of work each", brief(c.plan.Input.Expected)), strconv.Itoa(want)},
	)
}

func (c *checker) offsets() {
	k := c.cfg.Consumer
	c.report(k.Offsets.Initial != sarama.OffsetOldest, "Consumer.Offsets.Initial", initial(k.Offsets.Initial),
		"messages on a partition without a commit are passed over: new partitions, a first task that was interrupted, expired offsets",
		"sarama.OffsetOldest")
	c.report(!k.Offsets.AutoCommit.Enable, "Consumer.Offsets.AutoCommit.Enable", false,
		"marks that were not committed are thrown away when a claim or the session ends", "true, and Commit after each long task")
	c.report(k.Retry.Max > 0, "Consumer.Retry.Max", k.Retry.Max,
		"running out closes the claim, and one closed claim ends the session for all", "0")
	c.report(!k.Return.Errors, "Consumer.Return.Errors", false,
		"failed commits and claims are seen nowhere but in sarama's own log", "true, and read the group's Errors channel")
}

func initial(offset int64) any {
	if offset == sarama.OffsetNewest {
		return "newest"
	}
	return offset
}

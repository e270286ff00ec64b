package consumer

import (
	"log/slog"
	"time"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/hook"
)

// Hooks are one-method interfaces: a value in Config.Hooks implements those it wants, of this package and of package handler. They
// are called on the goroutine of the event, must not block and must be safe for concurrent use. A hook that panics is logged, and the
// event goes on to the next one.

// RebalanceHook hears each assignment that the member receives.
type RebalanceHook interface{ OnRebalance(r Rebalance) }

// PlanHook hears each round that the member plans because it leads the group. It needs our own balance strategy.
type PlanHook interface{ OnPlan(p GroupPlan) }

// SessionEndHook hears the end of each session.
type SessionEndHook interface{ OnSessionEnd(e SessionEnd) }

// CommitHook hears the broker's answer to each commit of a partition. One that is not stored when the partition is given up, or the member
// stops, is heard of once more, as Dropped: what it says is finished is run again by the next owner, unless the partition comes
// back to this member at once. There is none over a ConsumerGroup of the user.
type CommitHook interface{ OnCommit(c Commit) }

// ErrorHook hears what goes wrong outside the tasks, each time, also where the log keeps quiet about repetitions.
type ErrorHook interface{ OnError(err error) }

// Partitions is a set of partitions by topic, each list sorted.
type Partitions map[string][]int32

// Rebalance describes an assignment. A cooperative rebalance that moves partitions takes two rounds, and so two assignments.
// It makes JSON for people and dashboards, as [Status] does.
type Rebalance struct {
	Generation int32 `json:"generation"` // of the group, with this assignment
	// Strategy is the balance strategy that the group has in this round: "evenkeel" for our own, the only one that leaves running tasks alone.
	// It is empty where nobody told: over a ConsumerGroup without our strategies, and where a leader of another kind gave nothing.
	Strategy string     `json:"strategy"`
	Gained   Partitions `json:"gained"`   // not held before
	Lost     Partitions `json:"lost"`     // held before
	Assigned Partitions `json:"assigned"` // all that the member holds now
	// Holding are partitions that are to go to other members, each with the task that it waits for. Those that are to go and wait for none
	// do so in the round that follows.
	Holding []handler.Holding `json:"holding,omitempty"`
	// WastedSeconds are the task-seconds thrown away since the assignment before: of tasks that were cancelled, or whose results were dropped.
	WastedSeconds float64 `json:"wasted_task_seconds"`
}

// GroupPlan is what the leader of the group has decided in a round.
type GroupPlan struct {
	Members  map[string]Share `json:"members"`            // by member id
	Moved    []Move           `json:"moved,omitempty"`    // at once, from an owner to another member
	Withheld []Move           `json:"withheld,omitempty"` // in the next round, for From has to let go of them first
	Unserved Partitions       `json:"unserved"`           // nobody may have them: all members that consume the topic are about to stop
}

// Share is what a member gets in a round.
type Share struct {
	Assigned Partitions `json:"assigned"`  // all
	HandOver Partitions `json:"hand_over"` // of these: they are to go to other members when the tasks that run there have ended
	Stop     Partitions `json:"stop"`      // of these: a task is cancelled there, for it has run for longer than the plan's HoldLimit
}

// Move is a partition that goes from a member to another one. To is empty where that is not decided yet.
type Move struct {
	Topic     string `json:"topic"`     // name of the topic
	Partition int32  `json:"partition"` // number of the partition
	From      string `json:"from"`      // member id
	To        string `json:"to"`        // member id
}

// EndKind tells ends of sessions apart.
type EndKind string

// Kinds of session ends.
const (
	// EndRebalance: the group rebalances (eager), the member asks for another round, or the topics to consume have changed.
	EndRebalance EndKind = "rebalance"
	// EndLost: heartbeats or a join failed, the lease ran out, or the coordinator removed the member.
	EndLost EndKind = "membership lost"
	// EndStop: the context of Run has ended.
	EndStop EndKind = "stop"
	// EndClaim: a claim could not start, or its stream of messages ended by itself.
	EndClaim EndKind = "claim failed"
)

// SessionEnd describes the end of a session.
type SessionEnd struct {
	Kind       EndKind       // which of the four ends it was
	Cause      error         // of the session's context
	MemberID   string        // of this member in the session
	Generation int32         // at the end
	Lasted     time.Duration // since Setup
}

// Commit describes the answer to the commit of one partition.
type Commit struct {
	Topic     string        `json:"topic"`           // name of the topic
	Partition int32         `json:"partition"`       // number of the partition
	Offset    int64         `json:"offset"`          // next offset to read
	Err       error         `json:"error,omitempty"` // nil when stored; else a sarama.KError, or the latest error of the connection
	Retrying  bool          `json:"retrying"`        // it is sent again, unless the partition is given up first
	Dropped   bool          `json:"dropped"`         // it is not sent any more, for the partition was given up; Err is the latest answer
	Elapsed   time.Duration `json:"elapsed"`         // from the hand-over by the claim to the answer
}

type hooks struct {
	log        *slog.Logger
	rebalance  []RebalanceHook
	plan       []PlanHook
	sessionEnd []SessionEndHook
	commit     []CommitHook
	failure    []ErrorHook
}

func sortHooks(values []any, log *slog.Logger) *hooks {
	h := &hooks{log: log}
	for _, v := range values {
		h.rebalance = hook.Add(h.rebalance, v)
		h.plan = hook.Add(h.plan, v)
		h.sessionEnd = hook.Add(h.sessionEnd, v)
		h.commit = hook.Add(h.commit, v)
		h.failure = hook.Add(h.failure, v)
	}
	return h
}

// hearsTasks says whether v implements a hook interface of package handler.
func hearsTasks(v any) bool {
	switch v.(type) {
	case handler.TaskStartHook, handler.TaskEndHook, handler.ClaimStartHook, handler.ClaimEndHook, handler.GapHook:
		return true
	}
	return false
}

func (h *hooks) rebalanced(r Rebalance) {
	hook.Tell(h.log, h.rebalance, RebalanceHook.OnRebalance, r)
}

func (h *hooks) planned(p GroupPlan) { hook.Tell(h.log, h.plan, PlanHook.OnPlan, p) }
func (h *hooks) ended(e SessionEnd)  { hook.Tell(h.log, h.sessionEnd, SessionEndHook.OnSessionEnd, e) }
func (h *hooks) committed(c Commit)  { hook.Tell(h.log, h.commit, CommitHook.OnCommit, c) }
func (h *hooks) failed(err error)    { hook.Tell(h.log, h.failure, ErrorHook.OnError, err) }

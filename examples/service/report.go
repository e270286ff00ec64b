package main

import (
	"time"

	"github.com/evenkeel-go/evenkeel/consumer"
)

// report is a consumer.Status in the words of this service: times that people read, errors as text.
type report struct {
	State      consumer.State      `json:"state"`
	Since      time.Time           `json:"since"`
	Member     string              `json:"member,omitempty"`
	Generation int32               `json:"generation"`
	Rebalances int                 `json:"rebalances"`
	Assigned   consumer.Partitions `json:"assigned"`
	Started    int64               `json:"started"`
	Succeeded  int64               `json:"succeeded"`
	Failed     int64               `json:"failed"`
	Cancelled  int64               `json:"cancelled"`
	LastError  string              `json:"last_error,omitempty"`
	Partitions []partition         `json:"partitions"`
}

// partition is a claim.
type partition struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Committed int64  `json:"committed"` // -1 as long as nothing was committed in this claim
	Backlog   int    `json:"backlog"`
	Retrying  bool   `json:"retrying,omitempty"`
	Task      *task  `json:"task,omitempty"` // that runs
}

type task struct {
	Offset  int64  `json:"offset"`
	Attempt int    `json:"attempt"`
	Age     string `json:"age"`
}

func reportOf(s consumer.Status) report {
	r := report{
		State: s.State, Since: s.Since, Member: s.MemberID, Generation: s.Generation, Rebalances: s.Rebalances, Assigned: s.Assigned,
		Started: s.Started, Succeeded: s.Succeeded, Failed: s.Failed, Cancelled: s.Cancelled, Partitions: []partition{},
	}
	if s.LastError != nil {
		r.LastError = s.LastError.Error()
	}
	for _, c := range s.Claims {
		r.Partitions = append(r.Partitions, partitionOf(c))
	}
	return r
}

func partitionOf(c consumer.ClaimStatus) partition {
	p := partition{Topic: c.Topic, Partition: c.Partition, Committed: c.Committed, Backlog: c.Backlog, Retrying: c.Retrying}
	if c.Task != nil {
		p.Task = &task{Offset: c.Task.Offset, Attempt: c.Task.Attempt, Age: c.Task.Age.Round(time.Millisecond).String()}
	}
	return p
}

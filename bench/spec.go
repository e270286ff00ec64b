package main

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel-go/evenkeel/bench/peers"
	"github.com/evenkeel-go/evenkeel/handler"
)

// spec is what a process of its own is to do. With Tasks it works until that many are done and prints the outcome; else it tells of each
// start and end of a task.
type spec struct {
	peers.Settings

	Peer    string
	Members int           // in this process
	Sleep   time.Duration // of a task on partition 0
	Step    time.Duration // how much more a task of each next partition takes
	Tasks   int
	Ends    []int64       // with Tasks that do nothing: how many messages each partition has
	Limit   time.Duration // of Tasks, from the first start
}

// memberEnv tells this program to be a member, and has its spec.
const memberEnv = "EVENKEEL_BENCH_MEMBER"

func (s spec) encode() (string, error) {
	data, err := json.Marshal(s)
	return string(data), err
}

func decodeSpec(text string) (s spec, err error) {
	err = json.Unmarshal([]byte(text), &s)
	return s, err
}

// length is how long a task takes.
func (s spec) length(partition int32) time.Duration {
	return s.Sleep + time.Duration(partition)*s.Step
}

// javaArguments are those of Member.java.
func (s spec) javaArguments() []string {
	micros := func(d time.Duration) string { return strconv.FormatInt(d.Microseconds(), 10) }
	return []string{
		strings.Join(s.Brokers, ","), s.Topic, s.Group, javaOrder(orderOf(s.Order)), strconv.Itoa(s.Slots),
		micros(s.Sleep), micros(s.Step), strconv.FormatInt(s.Session.Milliseconds(), 10), strconv.Itoa(max(1, s.Members)),
		strconv.FormatInt(s.Grace.Milliseconds(), 10),
	}
}

func orderOf(o peers.Order) handler.Order {
	switch o {
	case peers.ByKey:
		return handler.ByKey
	case peers.None:
		return handler.None
	default:
		return handler.ByPartition
	}
}

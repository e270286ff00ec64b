package assign_test

import (
	"fmt"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/assign"
)

// Rounds of 1,000 members with 10,000 partitions.
func BenchmarkDecide(b *testing.B) {
	for _, bench := range []struct {
		name            string
		topics, classes int
		before          int // members that own all partitions
		busy            bool
	}{
		{"a new group", 1, 1, 0, false},
		{"a new group with 100 topics", 100, 1, 0, false},
		{"500 newcomers, all idle", 1, 1, 500, false},
		{"500 newcomers, all busy", 1, 1, 500, true},
		{"500 newcomers, all busy, 100 topics", 100, 1, 500, true},
		{"500 newcomers, all busy, 10 subscriptions", 20, 10, 500, true},
		{"500 newcomers, all idle, 10 subscriptions", 20, 10, 500, false},
		{"at rest", 1, 1, 1000, true},
	} {
		members, topics := large(bench.topics, bench.classes, bench.before, bench.busy)
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				assign.Decide(members, topics)
			}
		})
	}
}

// large makes 1,000 members with 10,000 partitions. With several classes each member leaves out one part of the topics.
func large(topicCount, classes, before int, busy bool) (members []assign.Member, topics assign.Partitions) {
	topics = assign.Partitions{}
	for i := range topicCount {
		topics[fmt.Sprintf("topic-%03d", i)] = numbers(10_000 / topicCount)
	}
	for i := range 1_000 {
		m := assign.Member{ID: fmt.Sprintf("member-%04d", i), Report: &assign.Report{Owner: uint64(i + 1), Slots: 1}}
		for j := range topicCount {
			if classes == 1 || j%classes != i%classes {
				m.Topics = append(m.Topics, fmt.Sprintf("topic-%03d", j))
			}
		}
		members = append(members, m)
	}
	for i := 0; before > 0 && i < 10_000; i++ {
		topic, number := fmt.Sprintf("topic-%03d", i%topicCount), int32(i/topicCount)
		m := &members[(i+i/topicCount)%before]
		m.Report.Generation = 4
		if m.Report.Owned == nil {
			m.Report.Owned, m.Report.Busy = assign.Partitions{}, assign.Partitions{}
		}
		if busy {
			m.Report.Busy[topic] = append(m.Report.Busy[topic], number)
		} else {
			m.Report.Owned[topic] = append(m.Report.Owned[topic], number)
		}
	}
	return members, topics
}

// Each member shares a topic with the next one, and that is all they have in common: what one half has reaches the other in chains.
func BenchmarkDecideRing(b *testing.B) {
	topics := assign.Partitions{}
	var members []assign.Member
	for i := range 200 {
		names := []string{fmt.Sprintf("topic-%03d", i), fmt.Sprintf("topic-%03d", (i+1)%200)}
		topics[names[0]] = numbers(10)
		m := assign.Member{ID: fmt.Sprintf("member-%04d", i), Topics: names, Report: &assign.Report{Owner: uint64(i + 1), Slots: 1 + i/100*3}}
		m.Report.Owned = assign.Partitions{names[0]: numbers(10)}
		members = append(members, m)
	}
	b.ReportAllocs()
	for b.Loop() {
		assign.Decide(members, topics)
	}
}

func BenchmarkReport(b *testing.B) {
	members, _ := large(1, 1, 1, true)
	r, topics := *members[0].Report, members[0].Topics
	data := r.Encode(topics)
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r.Encode(topics)
		}
	})
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := assign.ParseReport(data, topics); err != nil {
				b.Fatal(err)
			}
		}
	})
}

package main

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-go/evenkeel/bench/peers"
	"github.com/evenkeel-go/evenkeel/bench/record"
)

// Each round goes through all sides; one that fails is left out from then on, and noted.
func TestSidesTakeTheirTurns(t *testing.T) {
	var kept strings.Builder
	l := &lab{ctx: t.Context(), record: record.NewWriter(&kept), rounds: 2}
	turns := &taking{lab: l, row: "row", order: peers.ByPartition, without: []string{"watermill", racingCooperative}}
	var took []string
	err := turns.each(func(s side) error {
		took = append(took, s.name)
		if s.name == "franz_go" {
			return errors.New("it has ended")
		}
		return nil
	})
	round := []string{oursName, "sarama_blocking", racingName, "franz_go", "kafka_go", parallelConsumerName}
	again := slices.DeleteFunc(slices.Clone(round), func(name string) bool { return name == "franz_go" })
	if want := slices.Concat(round, again); err != nil || !slices.Equal(took, want) {
		t.Errorf("%v, %v, want %v", took, err, want)
	}
	if want := `{"absent":{"row":"row","peer":"franz_go","why":"it has ended"}}` + "\n"; kept.String() != want {
		t.Errorf("%q, want %q", kept.String(), want)
	}
}

func TestOnlySidesWithTheOrderTakePart(t *testing.T) {
	var took []string
	turns := &taking{lab: &lab{ctx: t.Context(), rounds: 1}, order: peers.ByKey}
	if err := turns.each(func(s side) error { took = append(took, s.name); return nil }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(took, []string{oursName, parallelConsumerName}) {
		t.Errorf("%v", took)
	}
}

func TestARowWithoutUsHasFailed(t *testing.T) {
	broken := errors.New("broken")
	turns := &taking{lab: &lab{ctx: t.Context(), rounds: 1}, order: peers.None}
	err := turns.each(func(s side) error {
		if s.name == oursName {
			return broken
		}
		return nil
	})
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

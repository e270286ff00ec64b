package main

import (
	"strings"
	"testing"
)

// Each row has an aim, and each aim is one of a row.
func TestEachRowHasAnAim(t *testing.T) {
	for _, r := range rows() {
		if !r.peers && !hasAim(r.name) {
			t.Errorf("%s has no aim", r.name)
		}
	}
	for name := range aims {
		if !ofRow(name) {
			t.Errorf("%s is an aim of no row", name)
		}
	}
}

func hasAim(row string) bool {
	for name := range aims {
		if strings.HasPrefix(name, row) {
			return true
		}
	}
	return false
}

func ofRow(figure string) bool {
	for _, r := range rows() {
		if strings.HasPrefix(figure, r.name) {
			return true
		}
	}
	return false
}

func TestAMissIsTold(t *testing.T) {
	for _, test := range []struct {
		f    figure
		want int
	}{
		{figure{name: "commit_p50", value: 2, baselineValue: 1}, 0},
		{figure{name: "commit_p50", value: 2.1, baselineValue: 1}, 1},
		{figure{name: "key_20ms", value: 0.98, baselineValue: 0.99}, 2},
		{figure{name: "key_20ms", value: 0.99}, 0}, // nothing to compare with
		{figure{name: "key_1ms_wall", value: 5, baselineValue: 4, ratio: 1.05}, 0},
		{figure{name: "hang_neighbours_commit_max", value: 70, baselineValue: 10}, 1},
		{figure{name: "churn_repeats_eager", value: 1, baselineValue: 369}, 1},
		{figure{name: "without_an_aim", value: 1e9}, 0},
	} {
		if got := test.f.missed(); len(got) != test.want {
			t.Errorf("%+v has missed %v", test.f, got)
		}
	}
}

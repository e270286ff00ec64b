package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
)

// written is a folder with the ledger of a run in which one message was sent.
func written(t *testing.T, events ...ledger.Event) string {
	t.Helper()
	folder := t.TempDir()
	f, err := os.Create(filepath.Join(folder, ledgerFile))
	if err != nil {
		t.Fatal(err)
	}
	b := ledger.NewBook(ledger.Header{Seed: 5, Groups: []ledger.Group{{Name: "g", Order: "key", Partitions: 1, Slots: 1}}}, f)
	for i, e := range events {
		e.At = time.Duration(i+1) * time.Second
		e.Wall = 1_800_000_000_000_000_000 + int64(e.At)
		b.Add(e)
	}
	if err := b.Err(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return folder
}

// The status of a check tells a sound ledger from one with a violation, and both from none.
func TestTheStatusTellsWhatWasFound(t *testing.T) {
	claimed := ledger.Event{Kind: ledger.Claimed, Member: "A.1", Group: "g"}
	started := ledger.Event{Kind: ledger.Started, Member: "A.1", Group: "g", Call: 1}
	ended := ledger.Event{Kind: ledger.Ended, Member: "A.1", Group: "g", Call: 1}
	produced := ledger.Event{Kind: ledger.Produced, Group: "g", Offset: 1}
	sound := written(t, claimed, started, ended, produced)
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, ledgerFile), []byte("no ledger\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args   []string
		status int
		says   string // in the output, or in the error
	}{
		{[]string{"-check", sound}, 0, "no violation with seed 5"},
		{[]string{"-check", written(t, claimed, produced)}, 1, "S1 VIOLATED at 1.000 s: g 0@0 has no run that succeeded\n\n1 VIOLATIONS of S1 with seed 5"},
		{[]string{"-check", sound, "-soak", "1"}, 2, "the soak does not say whether memory stays level: no process has lived for 9m0s"},
		{[]string{"-check", t.TempDir()}, 2, "no such file"},
		{[]string{"-check", broken}, 2, "invalid character"},
		{[]string{"-soak", "0.1"}, 2, "-soak 0.1 is too short to tell whether memory stays level: give 0.2 or more"},
		{[]string{"-minutes", "0.1"}, 2, "give 0.5 or more"},
		{[]string{"-nemesis", "("}, 2, "-nemesis: error parsing regexp"},
		{[]string{"-nemesis", "no such fault"}, 2, "no nemesis matches"},
		{[]string{"-list"}, 0, "disk full"},
	} {
		var out strings.Builder
		status, err := obey(t.Context(), test.args, &out)
		if err != nil {
			out.WriteString(err.Error())
		}
		if status != test.status || !strings.Contains(out.String(), test.says) {
			t.Errorf("%v ends with %d, want %d and %q:\n%s", test.args, status, test.status, test.says, &out)
		}
	}
	if page, err := os.ReadFile(filepath.Join(sound, timelineFile)); err != nil || !strings.Contains(string(page), "</svg>") {
		t.Errorf("no picture: %v", err)
	}
}

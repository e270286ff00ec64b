package record_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/bench/record"
)

func TestWhatIsWrittenIsRead(t *testing.T) {
	want := []record.Line{
		{Run: &record.Run{Began: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), CPU: "x", Cores: 2, Peers: map[string]string{"a": "b"}}},
		{Row: &record.Row{Name: "row", What: "what", Peers: true}},
		{Figure: &record.Figure{Row: "row", Name: "row_x", Value: 1.5, Unit: "s", Samples: []float64{1, 2}, Peer: "a", PeerWaiting: true, Missed: []string{"less"}}},
		{Absent: &record.Absent{Row: "row", Peer: "b", Why: "gone"}},
	}
	var text strings.Builder
	w := record.NewWriter(&text)
	for _, l := range want {
		if err := w.Write(l); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "results.jsonl")
	if err := os.WriteFile(path, []byte(text.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := record.Read(path)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAMissingFileHasNoLines(t *testing.T) {
	if got, err := record.Read(filepath.Join(t.TempDir(), "none")); got != nil || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

func TestABrokenLineIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.jsonl")
	if err := os.WriteFile(path, []byte("{}\n{broken\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := record.Read(path); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v", err)
	}
}

func TestTheZeroWriterWritesNothing(t *testing.T) {
	var w record.Writer
	if err := w.Write(record.Line{}); err != nil {
		t.Error(err)
	}
}

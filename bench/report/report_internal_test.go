package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/bench/record"
)

// today is what the rows are now: one measures something else, one is no more, one is new, and a peer takes part in another form.
func today() []record.Line {
	return []record.Line{
		{Run: &record.Run{Peers: map[string]string{"evenkeel": "ours", "other": "a faster peer"}}},
		{Row: &record.Row{Name: "speed", What: "from here to there", Peers: true}},
		{Row: &record.Row{Name: "alone", What: "y"}},
		{Row: &record.Row{Name: "broken", What: "from here to there"}},
		{Row: &record.Row{Name: "unknown", What: "z"}},
	}
}

// sample has a row with peers, one by itself, one that has failed and one that is no more; the first one was measured twice.
func sample() []record.Line {
	run := func(day int) record.Line {
		return record.Line{Run: &record.Run{
			Began: time.Date(2026, 5, day, 12, 0, 0, 0, time.UTC), Command: "go run .", CPU: "a CPU", Cores: 2, MemoryMB: 4096, Load: 0.5, OS: "Linux",
			Go: "go1.26", Kafka: "4.4.0", Peers: map[string]string{"evenkeel": "ours", "other": "a peer"}, Modules: map[string]string{"m": "v1"},
		}}
	}
	row := func(name string, peers bool) record.Line {
		return record.Line{Row: &record.Row{Name: name, What: "from here to there", Peers: peers}}
	}
	fast := func(name, peer string, value, peerValue float64, samples ...float64) record.Line {
		return record.Line{Figure: &record.Figure{
			Row: "speed", Name: name, Value: value, Unit: "tasks/s", Peer: peer, PeerValue: peerValue, PeerSamples: samples, More: true,
		}}
	}
	return []record.Line{
		run(1), row("speed", true), fast("speed_10", "forgotten", 1, 99),
		{Row: &record.Row{Name: "alone", What: "x"}},
		{Figure: &record.Figure{Row: "alone", Name: "alone_x", Value: 3, Unit: "s", Samples: []float64{2, 3, 4}, Missed: []string{"a value of at most 1"}}},
		run(2), row("speed", true), fast("speed_10", "other", 10, 20, 18, 20, 21), fast("speed_100", "other", 400, 100), fast("speed_10", "third", 10, 9),
		{Absent: &record.Absent{Row: "speed", Peer: "fourth", Why: "it has ended\nwith a stack"}},
		row("broken", false),
		{Absent: &record.Absent{Row: "broken", Why: "no broker"}},
		row("gone", false),
	}
}

func written(t *testing.T) (page string, folder string) {
	t.Helper()
	folder = t.TempDir()
	from, now := filepath.Join(folder, "results.jsonl"), filepath.Join(folder, "now.jsonl")
	save(t, from, sample())
	save(t, now, today())
	if err := write(from, folder, now); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(folder, "benchmarks.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data), folder
}

func save(t *testing.T, path string, lines []record.Line) {
	t.Helper()
	var text bytes.Buffer
	w := record.NewWriter(&text)
	for _, l := range lines {
		if err := w.Write(l); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestThePageHasWhatWasMeasuredLast(t *testing.T) {
	page, _ := written(t)
	for _, want := range []string{
		"- [speed](#speed), `other`: 10, 2 times\n",
		"| `other` | **20 (18..21)** | 100 | 10, 2 times |\n",
		"| `evenkeel` | 10 | **400** |  |\n",
		"| `third` | 9 | - |  |\n",
		"Without fourth: it has ended\n",
		"| `alone_x` | 3 (2..4) | s | none |  |  | missed: a value of at most 1 |\n",
		"- [alone](#alone): `alone_x` is 3 s, a value of at most 1 was aimed at\n",
		"### broken\n\nFrom here to there.\n\nIt was not measured.\n\nWithout the rest of it: no broker\n",
		"In none of the runs that were kept: unknown.",
		"as each of them says: [speed](#speed), [alone](#alone).\n",
		"From here to there.\n\n**Out of date**: `other` took part as: a peer.\n",
		"X.\n\n**Out of date**: it measures something else today: y.\n",
		"![speed](benchmarks/speed.svg)",
		"- a CPU, 2 cores, 4,100 MB of memory, Linux\n",
		"- 1 May 2026, 12:00 UTC, at commit `unknown`, with `go run .` in bench/, the machine at a load of 0.5 before: alone\n",
		"- 2 May 2026, 12:00 UTC, at commit `unknown`, with `go run .` in bench/, the machine at a load of 0.5 before: speed, broken\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q:\n%s", want, page)
		}
	}
	for _, not := range []string{"forgotten", "with a stack", "gone"} {
		if strings.Contains(page, not) {
			t.Errorf("the page has %q", not)
		}
	}
}

func TestTheSameResultsMakeTheSameReport(t *testing.T) {
	first, one := written(t)
	second, two := written(t)
	a, b := chartOf(t, one), chartOf(t, two)
	if first != second || !bytes.Equal(a, b) {
		t.Error("two reports of the same results differ")
	}
}

func chartOf(t *testing.T, folder string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "benchmarks", "speed.svg"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestAChartNamesItsSides(t *testing.T) {
	_, folder := written(t)
	var text strings.Builder
	for d := xml.NewDecoder(bytes.NewReader(chartOf(t, folder))); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if words, ok := token.(xml.CharData); ok {
			text.Write(words)
		}
	}
	for _, want := range []string{"evenkeel", "other", "third", "tasks/s", "10", "100"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the chart has no %q", want)
		}
	}
}

func TestChartsOfAnotherReportAreRemoved(t *testing.T) {
	_, folder := written(t)
	old := filepath.Join(folder, "benchmarks", "old.svg")
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(filepath.Join(folder, "results.jsonl"), folder, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestNothingMeasuredIsNoReport(t *testing.T) {
	if err := write(filepath.Join(t.TempDir(), "none"), t.TempDir(), ""); err == nil {
		t.Error("no error")
	}
}

func TestNumbers(t *testing.T) {
	for value, want := range map[float64]string{
		0: "0", 1: "1", 0.12345: "0.123", 12.345: "12.3", 999.4: "999", 1_234: "1,230", 2_501_000: "2,500,000", 999_999: "1,000,000",
		0.0000123: "0.0000123", -1_234: "-1,230", 999.9: "1,000", -123_456: "-123,000",
	} {
		if got := number(value); got != want {
			t.Errorf("%v: %q, want %q", value, got, want)
		}
	}
}

func TestWhoIsBetter(t *testing.T) {
	one := func(value, low, high float64) cell { return cell{value, low, high, 3, false} }
	for name, test := range map[string]struct {
		more         bool
		ours, theirs cell
		want         string
	}{
		"more":                {true, one(10, 9, 11), one(20, 19, 21), "x, 2 times"},
		"less":                {false, one(10, 9, 11), one(5, 4, 6), "x, 2 times"},
		"ours":                {false, one(10, 9, 11), one(20, 19, 21), ""},
		"even":                {false, one(10, 9, 11), one(9.95, 9, 11), ""},
		"within the spread":   {true, one(10, 9, 16), one(15, 14, 16), "x, 1.5 times (within the spread)"},
		"against nothing":     {false, one(3, 3, 3), one(0, 0, 0), "x"},
		"both nothing":        {false, one(0, 0, 0), one(0, 0, 0), ""},
		"it has not happened": {false, one(10, 9, 11), cell{5, 5, 5, 1, true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := &column{label: "x", more: test.more, cells: map[string]cell{ours: test.ours, "peer": test.theirs}}
			if got := c.beats("peer"); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
	if text := (&column{cells: map[string]cell{ours: one(1, 1, 1)}}).beats("absent"); text != "" {
		t.Errorf("one that is not there: %q", text)
	}
}

// What belongs together stays in one table, and what is left is filled up.
func TestTablesAreNotTooWide(t *testing.T) {
	s := &section{Row: record.Row{Name: "r", Peers: true}}
	for _, name := range []string{"r_a_1", "r_b_1", "r_a_10", "r_b_10", "r_a_100", "r_b_100", "r_c", "r_d"} {
		s.figures = append(s.figures, record.Figure{Row: "r", Name: name, Value: 1, Unit: "s"})
	}
	var got []string
	for _, table := range s.tables() {
		got = append(got, strings.Join(labels(table), ","))
	}
	if want := []string{"a 1,a 10,a 100", "b 1,b 10,b 100,c", "d"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	var files []string
	for _, c := range s.charts() {
		files = append(files, c.file)
	}
	if want := []string{"r_a.svg", "r_b.svg", "r_s.svg"}; !slices.Equal(files, want) {
		t.Errorf("%q, want %q", files, want)
	}
}

func TestStems(t *testing.T) {
	for label, want := range map[string]string{"begin 100": "begin", "20ms": "", "p99": "p", "wasted": "wasted"} {
		if got := stemOf(label); got != want {
			t.Errorf("%q: %q, want %q", label, got, want)
		}
	}
}

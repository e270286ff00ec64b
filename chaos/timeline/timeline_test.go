package timeline_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
	"github.com/evenkeel-go/evenkeel/chaos/timeline"
)

// All that a reader looks for is there, and the picture is well formed.
func TestDraw(t *testing.T) {
	b := ledger.NewBook(ledger.Header{Seed: 3, Groups: []ledger.Group{{Name: "g", Partitions: 2}}}, nil)
	add := func(at int, member string, k ledger.Kind, change func(*ledger.Event)) {
		e := ledger.Event{At: time.Duration(at) * time.Second, Member: member, Kind: k, Group: "g", Partition: 1}
		if change != nil {
			change(&e)
		}
		b.Add(e)
	}
	task := func(call int64, err string) func(*ledger.Event) {
		return func(e *ledger.Event) { e.Call, e.Offset, e.Err = call, call, err }
	}
	fault := func(e *ledger.Event) { e.Fault, e.Text, e.Class = 4, "cut", ledger.OfMember }
	add(1, "A.1", ledger.Spawned, nil)
	add(2, "A.1", ledger.Claimed, nil)
	add(3, "A.1", ledger.Started, task(1, ""))
	add(4, "A.1", ledger.Ended, task(1, ""))
	add(4, "A.1", ledger.Started, task(2, ""))
	add(5, "A.1", ledger.Fault, fault)
	add(6, "A.1", ledger.Canceled, task(2, "membership lost"))
	add(6, "A.1", ledger.Ended, task(2, "membership lost"))
	add(7, "A.1", ledger.Calm, fault)
	add(7, "A.1", ledger.Started, task(3, ""))
	add(8, "A.1", ledger.Ended, task(3, "fails & <breaks>"))
	add(8, "A.1", ledger.Started, task(4, ""))
	add(9, "A.1", ledger.Gone, nil)
	add(10, "B.1", ledger.Claimed, nil)
	add(10, "B.1", ledger.Sampled, func(e *ledger.Event) { e.Usage = &ledger.Usage{Goroutines: 77} })
	var out strings.Builder
	if err := timeline.Draw(&out, b, []timeline.Mark{{At: 8 * time.Second, Group: "g", Partition: 1, Text: "S1: lost"}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"seed 3", "#4 cut A.1, 2s", "g 1@1 , 1s, succeeded", "cancelled: membership lost", "failed: fails &amp; &lt;breaks&gt;",
		"its process was gone", "B.1 claims g 1 for 0s, at the end", "S1: lost", `class="fault member"`, ">cut<",
		"heap in use, MB", "resident memory, MB", "goroutines", "descriptors", "lag of what is claimed, messages", ">77<", "<title>B.1</title>", "background:hsl(",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q", want)
		}
	}
	svg := out.String()[strings.Index(out.String(), "<svg"):strings.Index(out.String(), "</div>")]
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
	}
	if err := timeline.Draw(io.Discard, ledger.NewBook(ledger.Header{}, nil), nil); err != nil {
		t.Errorf("an empty book: %v", err)
	}
}

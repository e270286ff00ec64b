package picture_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/bench/ledger"
	"github.com/evenkeel-go/evenkeel/bench/picture"
)

func at(second int) time.Time { return time.Unix(1_800_000_000+int64(second), 0) }

// A picture has a bar for each run, marks those that were for nothing, and says what was done to the group.
func TestAPictureShowsWhatHappened(t *testing.T) {
	runs := ledger.Runs{
		{Member: 0, Partition: 0, Offset: 1, Start: at(0), End: at(10), How: ledger.Cancelled},
		{Member: 1, Partition: 0, Offset: 1, Start: at(12), End: at(20), How: ledger.Done},
		{Member: 0, Partition: 1, Offset: 7, Start: at(-5), End: at(25), How: ledger.Running},
	}
	var out strings.Builder
	err := picture.Draw(&out, "A member joins", []picture.Panel{{
		Title: "ours", Runs: runs, From: at(0), To: at(20), Partitions: 2, Changes: []picture.Change{{At: at(10), Text: "member 1 joins"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(out.String())); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, &out)
		}
	}
	for text, n := range map[string]int{
		"<title>": 3, "url(#wasted)": 1, "member 1 joins": 1, "partition 1": 1, "3 starts, 1 of them of what had been started before; 10 task-seconds": 1,
		`x="70.0" y="94"`: 2, "20 s": 1,
	} {
		if got := strings.Count(out.String(), text); got != n {
			t.Errorf("%q is there %d times, want %d, in\n%s", text, got, n, &out)
		}
	}
}

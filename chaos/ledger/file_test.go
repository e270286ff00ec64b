package ledger_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
)

func TestABookIsReadAsItWasWritten(t *testing.T) {
	var file bytes.Buffer
	b := ledger.NewBook(ledger.Header{Seed: 7, Groups: []ledger.Group{{Name: "g", Lease: time.Second}}}, &file)
	b.Add(ledger.Event{At: 2, Wall: 5, Member: "A.1", Kind: ledger.Started, Group: "g", Partition: 3, Offset: 9, Key: "k", Call: 1})
	b.Add(ledger.Event{At: 1, Wall: 4, Kind: ledger.Sampled, Usage: &ledger.Usage{Heap: 8}})
	again, err := ledger.Read(&file)
	if err != nil || b.Err() != nil {
		t.Fatal(err, b.Err())
	}
	if !reflect.DeepEqual(again.Header, b.Header) || !reflect.DeepEqual(again.Events(), b.Events()) {
		t.Errorf("%+v %+v", again.Header, again.Events())
	}
	if e := again.Events(); e[0].At != 1 {
		t.Errorf("not by time: %v", e)
	}
}

// A member that is killed while it writes leaves a piece of a line.
func TestATornLineIsLeftOut(t *testing.T) {
	var line bytes.Buffer
	ledger.NewWriter(&line, "A.1").Add(ledger.Event{Kind: ledger.Started})
	whole := line.String()
	b := ledger.NewBook(ledger.Header{}, nil)
	if err := b.Collect(strings.NewReader(whole + whole[:10])); err != nil {
		t.Fatal(err)
	}
	e := b.Events()
	if len(e) != 1 || e[0].Member != "A.1" || e[0].At == 0 || e[0].Wall == 0 {
		t.Errorf("%+v", e)
	}
	if err := b.Collect(strings.NewReader("panic: oh\n")); err == nil {
		t.Error("a line that is no event was taken")
	}
	if _, err := ledger.Read(strings.NewReader("")); err == nil {
		t.Error("nothing was taken for a ledger")
	}
}

func TestTheClockIsMonotonic(t *testing.T) {
	a := ledger.Now()
	if b := ledger.Now(); b < a || a == 0 {
		t.Errorf("%v and then %v", a, b)
	}
}

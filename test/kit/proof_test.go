package kit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/offset"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// script is a history in the making: each line is a second later than the one before.
type script struct {
	kit.History
	now time.Time
}

func (s *script) add(e kit.Event) {
	s.now = s.now.Add(time.Second)
	e.At = s.now
	s.Add(e)
}

// read takes words: a+3k is a start of message 3 with the key k by member a, a-3k its good end, a!3k a failure, a~3k a cancellation, a*
// a claim, a? that a is expelled, a/ that its process is gone, =3 a commit at 3, and =3:5 one with a map of 5.
func (s *script) read(words string) {
	for w := range strings.FieldsSeq(words) {
		if rest, ok := strings.CutPrefix(w, "="); ok {
			s.commit(rest)
			continue
		}
		e := kit.Event{Member: w[:1]}
		switch w[1] {
		case '*':
			e.Kind = kit.Claimed
		case '?':
			e.Kind = kit.Expelled
		case '/':
			e.Kind = kit.Gone
		default:
			s.call(e, w)
			continue
		}
		s.add(e)
	}
}

func (s *script) call(e kit.Event, w string) {
	e.Kind = map[byte]kit.Kind{'+': kit.Started, '-': kit.Returned, '!': kit.Returned, '~': kit.Cancelled}[w[1]]
	_, _ = fmt.Sscanf(w[2:], "%d%s", &e.Offset, &e.Key)
	e.Call = e.Offset
	if w[1] == '!' {
		e.Err = errors.New("failed")
	}
	s.add(e)
}

func (s *script) commit(words string) {
	e, beyond := kit.Event{Kind: kit.Stored}, int64(0)
	if n, _ := fmt.Sscanf(words, "%d:%d", &e.Offset, &beyond); n == 2 {
		e.Text = offset.State{Next: e.Offset, Finished: offset.Ranges{{From: beyond, To: beyond + 1}}}.Encode(offset.MaxText)
	}
	s.add(e)
}

func TestFaultsAreFound(t *testing.T) {
	for _, test := range []struct {
		name, words string
		order       handler.Order
		want        string // in the one fault; "" for none
	}{
		{"in order", "a* a+0k a-0k a+1k a-1k =2", handler.ByPartition, ""},
		{"keys beside each other", "a* a+0k a+1l a-1l =0:1 a-0k =2", handler.ByKey, ""},
		{"overlap of a partition", "a* a+0k a+1l a-0k a-1l", handler.ByPartition, "starts while"},
		{"overlap of a key", "a* a+0k a+1k a-0k a-1k", handler.ByKey, "starts while"},
		{"no key", "a* a+0 a+1 a-0 a-1", handler.ByKey, ""},
		{"no order", "a* a+0k a+1k a-0k a-1k", handler.None, ""},
		{"inversion", "a* a+1k a-1k b* b+0k b-0k", handler.ByKey, "before 0 has"},
		{"inversion in a claim", "a* a+1k a-1k a+0k a-0k", handler.None, ""},
		{"passed over a failure", "a* a+0k a!0k a+1k a-1k b* b+0k b-0k", handler.ByKey, "before 0 has"},
		{"tried again", "a* a+0k a!0k a+0k a-0k a+1k a-1k", handler.ByKey, ""},
		{"rewound in a claim", "a* a+0k a-0k a+1k a-1k a+0k a-0k", handler.ByKey, "same claim"},
		{"rewound by another claim", "a* a+0k a-0k a+1k a-1k a* a+0k a-0k", handler.ByKey, ""},
		{"two of one message", "a* a+0k b* b+0k a-0k b-0k a+1k a-1k", handler.None, "starts while"},
		{"one of a message cancelled", "a* a+0k a~0k b* b+0k a-0k b-0k b+1 b-1", handler.None, ""},
		{"one of a message expelled", "a* a+0k a? b* b+0k a-0k b-0k b+1 b-1", handler.None, ""},
		{"one of a message killed", "a* a+0k a/ b* b+0k b-0k b+1 b-1", handler.None, ""},
		{"cancelled in the same member", "a* a+0k a~0k a* a+1k a-1k a-0k", handler.ByKey, "starts while"},
		{"committed too early", "a* a+0k =1 a-0k a+1k a-1k", handler.ByKey, "0 had not"},
		{"in the map too early", "a* a+0k a+1l =0:1 a-0k a-1l", handler.ByKey, "1 had not"},
		{"in the map and failed", "a* a+0k a+1l a!1l =0:1 a-0k a+1l a-1l", handler.ByKey, "1 had not"},
		{"lost", "a* a+0k a-0k", handler.ByKey, "no run that succeeded"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var s script
			s.read(test.words)
			faults := strings.Join(s.Faults(kit.Rules{Order: test.order, Ends: map[int32]int64{0: 2}}), "\n")
			if (test.want == "") != (faults == "") || !strings.Contains(faults, test.want) {
				t.Errorf("faults %q, want %q", faults, test.want)
			}
		})
	}
}

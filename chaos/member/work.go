package member

import (
	"context"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/evenkeel-go/evenkeel/handler"
)

// manner is how a task behaves. It follows from the seed and the message, so that each run of it is alike.
type manner struct {
	lasts    time.Duration
	first    ending // of the first attempt
	deaf     bool   // it ignores its context
	succeeds bool   // although its context has ended
}

// ending is how a run ends.
type ending string

const (
	well   ending = "well"
	fails  ending = "fails"
	panics ending = "panics"
	exits  ending = "exits" // runtime.Goexit
)

// longest is the longest task: several times the session timeout.
const longest = 3 * Session

// mannerOf draws lots for a message.
func mannerOf(seed uint64, topic string, partition int32, offset int64) manner {
	h := fnv.New64a()
	h.Write([]byte(topic + "/" + strconv.Itoa(int(partition)) + "/" + strconv.FormatInt(offset, 10)))
	r := rand.New(rand.NewPCG(seed, h.Sum64()))
	m := manner{lasts: duration(r), first: well, succeeds: r.IntN(20) == 0}
	m.deaf = r.IntN(deafOf(m.lasts)) == 0
	switch lot := r.IntN(100); {
	case lot < 4:
		m.first = fails
	case lot < 6:
		m.first = panics
	case lot < 7:
		m.first = exits
	}
	return m
}

// deafOf is of how many tasks one is deaf. Few are longer than the session timeout, and each of them that is deaf outlives the membership
// that it was begun in: of them it is one of four.
func deafOf(lasts time.Duration) int {
	if lasts > Session {
		return 4
	}
	return 20
}

// duration is short as a rule, and now and then longer than the session timeout.
func duration(r *rand.Rand) time.Duration {
	span := func(from, to time.Duration) time.Duration { return from + time.Duration(r.Int64N(int64(to-from))) }
	switch lot := r.IntN(100); {
	case lot < 80:
		return span(time.Millisecond, 50*time.Millisecond)
	case lot < 97:
		return span(50*time.Millisecond, 2*time.Second)
	default:
		return span(2*time.Second, longest)
	}
}

var errFirst = errors.New("fails at first")

// work is the handler: it sleeps, and ends as its manner says.
func work(seed uint64) handler.Func {
	var ended firsts
	return func(ctx context.Context, t *handler.Task) error {
		m := mannerOf(seed, t.Topic, t.Partition, t.Offset)
		done := ctx.Done()
		if m.deaf {
			done = nil
		}
		lasts := time.NewTimer(m.lasts)
		defer lasts.Stop()
		select {
		case <-lasts.C:
			if m.first != well && !ended.before(t) {
				m.end()
				return errFirst
			}
			return nil
		case <-done:
			if m.succeeds {
				return nil
			}
			return context.Cause(ctx)
		}
	}
}

// firsts remembers whose first run has ended, until the second one has.
type firsts struct{ sync.Map }

func (f *firsts) before(t *handler.Task) bool {
	id := [3]any{t.Topic, t.Partition, t.Offset}
	if _, ended := f.LoadAndDelete(id); ended {
		return true
	}
	f.Store(id, true)
	return false
}

// end returns for a failure only.
func (m manner) end() {
	switch m.first {
	case panics:
		panic("panics at first")
	case exits:
		runtime.Goexit()
	case well, fails:
	}
}

package commit_test

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/commit"
	"github.com/evenkeel-go/evenkeel/internal/member"
	"github.com/evenkeel-go/evenkeel/internal/offset"
)

// lastWords are the results of partitions of which nothing is sent again.
func (b *broker) lastWords() map[int32][]commit.Result {
	b.mu.Lock()
	defer b.mu.Unlock()
	words := map[int32][]commit.Result{}
	for _, r := range b.results {
		if r.Verdict != commit.Again {
			words[r.Partition] = append(words[r.Partition], r)
		}
	}
	return words
}

var errReset = errors.New("connection reset")

// What was not stored when its claim is given up is told once more, with the last error, whether or not a request has carried it.
func TestWhatIsGivenUpUnstoredHasALastWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{takes: time.Second, answer: func(commit.Request) ([]error, error) { return nil, errReset }}
		l, own, other := run(t, b), &me{generation: 1}, &me{generation: 2}
		tried, behind := l.Claim(own, "t", 0), l.Claim(other, "t", 1)
		tried.Commit(at(5))
		behind.Commit(at(6))
		time.Sleep(1500 * time.Millisecond) // the first has its answer, the second is on its way
		behind.Commit(at(7))
		late := l.Claim(own, "t", 2)
		late.Commit(at(8)) // no request carries it
		over, cancel := context.WithCancel(t.Context())
		cancel()
		for _, c := range []*commit.Claim{tried, behind, late} {
			c.Release(over)
		}
		time.Sleep(time.Hour)
		words := b.lastWords()
		for p, want := range map[int32]int64{0: 5, 1: 7, 2: 8} {
			list := words[p]
			if len(list) == 0 {
				t.Errorf("partition %d has no last word", p)
				continue
			}
			r := list[len(list)-1]
			if r.Verdict != commit.Dropped || r.Offset.Offset != want || !errors.Is(r.Err, errReset) || !r.Finished || r.Kept {
				t.Errorf("the last word about partition %d is %+v", p, r)
			}
		}
	})
}

// One that was put into a request which waits for the one before it has been sent by nobody.
func TestWhatWaitsInARequestHasALastWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{takes: time.Second}
		l := run(t, b)
		hold := l.Claim(&me{generation: 1}, "t", 9)
		hold.Commit(at(1))
		synctest.Wait() // under way: what follows comes together behind it
		first, waits := l.Claim(&me{generation: 2}, "t", 0), l.Claim(&me{generation: 3}, "t", 1)
		first.Commit(at(5))
		waits.Commit(at(6))
		time.Sleep(1500 * time.Millisecond)
		over, cancel := context.WithCancel(t.Context())
		cancel()
		waits.Release(over)
		time.Sleep(time.Hour)
		if words := b.lastWords()[1]; len(words) != 1 || !errors.Is(words[0].Err, commit.ErrUnsent) || words[0].Offset.Offset != 6 {
			t.Errorf("told %+v", words)
		}
		release(t, first, time.Second)
		release(t, hold, time.Second)
	})
}

// What comes after a claim is given up is the echo of our own end, and is told only where nothing else had gone wrong.
func TestALastWordNamesWhatWentWrongFirst(t *testing.T) {
	for _, first := range []error{nil, errReset} {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			b := &broker{takes: time.Second, answer: func(r commit.Request) ([]error, error) {
				if n++; n == 1 {
					return make([]error, len(r.Offsets)), first
				}
				return nil, sarama.ErrClosedClient
			}}
			l := run(t, b)
			other, c := l.Claim(&me{generation: 2}, "t", 1), l.Claim(&me{generation: 1}, "t", 0)
			other.Commit(at(3))
			synctest.Wait()
			c.Commit(at(5))
			time.Sleep(1500 * time.Millisecond) // it is on its way
			over, cancel := context.WithCancel(t.Context())
			cancel()
			c.Release(over)
			time.Sleep(time.Hour)
			want := cmp.Or(first, commit.ErrUnanswered)
			if words := b.lastWords()[0]; len(words) != 1 || words[0].Verdict != commit.Dropped || !errors.Is(words[0].Err, want) {
				t.Errorf("told %+v, want %v", words, want)
			}
			other.Release(over)
		})
	}
}

// Where nobody sends any more, what was handed over and has no answer is given up with a word.
func TestAtTheEndAllIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{}
		l := commit.New(commit.Options{Notify: b.notify})
		c := l.Claim(&me{generation: 1}, "t", 0)
		c.Commit(at(5))
		l.GiveUp()
		c.Release(t.Context())
		if words := b.lastWords()[0]; len(words) != 1 || !errors.Is(words[0].Err, commit.ErrUnsent) {
			t.Errorf("told %+v, want one word", words)
		}
	})
}

// What is stored when the claim is given up is not told again.
func TestWhatIsStoredIsNotDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{}
		c := run(t, b).Claim(&me{generation: 1}, "t", 0)
		c.Commit(at(5))
		release(t, c, time.Second)
		if words := b.lastWords()[0]; len(words) != 1 || words[0].Verdict != commit.Done {
			t.Errorf("told %+v", words)
		}
	})
}

// A commit that finishes nothing costs nothing when it is lost: the stamp at a claim's begin, and one that says that tasks go on.
func TestALastWordSaysWhetherMoreHadFinished(t *testing.T) {
	stamp := offset.Stamp{Owner: 7, Count: 1}
	text := func(next int64, finished ...offset.Range) member.Position {
		s := offset.State{Stamp: stamp, Next: next, Finished: finished}
		return member.Position{Offset: next, Metadata: s.Encode(offset.MaxText)}
	}
	for name, test := range map[string]struct {
		stored, lost member.Position
		want         bool
	}{
		"the start":          {text(5), member.Position{}, false},
		"the stamp":          {member.Position{Offset: 5}, text(5), false},
		"the offset":         {text(5), text(6), true},
		"beyond the offset":  {text(5), text(5, offset.Range{From: 7, To: 8}), true},
		"no more beyond it":  {text(5, offset.Range{From: 7, To: 8}), text(5, offset.Range{From: 7, To: 8}), false},
		"without any commit": {member.Position{Offset: -1}, text(5), true},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := &broker{answer: func(commit.Request) ([]error, error) { return nil, sarama.ErrOffsetsLoadInProgress }}
			l := commit.New(commit.Options{
				Notify: b.notify, LookUp: func(context.Context, string, int32) (member.Position, error) { return test.stored, nil },
			})
			c := l.Claim(&me{generation: 1}, "t", 0)
			if _, err := c.Committed(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.Commit(test.lost)
			next := l.Claim(&me{generation: 2}, "t", 0)
			l.GiveUp()
			next.Release(t.Context())
			if words := b.lastWords()[0]; len(words) != 1 || words[0].Finished != test.want {
				t.Errorf("%s: told %+v, want finished %v", name, words, test.want)
			}
		})
	}
}

// A claim of the partition that has begun by then goes on from there.
func TestALastWordSaysWhetherTheMemberGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{answer: func(commit.Request) ([]error, error) { return nil, errReset }}
		l := run(t, b)
		c := l.Claim(&me{generation: 1}, "t", 0)
		c.Commit(at(5))
		synctest.Wait()
		next := l.Claim(&me{generation: 2}, "t", 0)
		over, cancel := context.WithCancel(t.Context())
		cancel()
		c.Release(over)
		next.Release(over)
		if words := b.lastWords()[0]; len(words) != 1 || !words[0].Kept {
			t.Errorf("told %+v", words)
		}
	})
}

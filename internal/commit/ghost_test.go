package commit_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/commit"
)

var errCut = errors.New("no answer in time")

// script answers the first requests with these errors, and the later ones with none.
func script(errs ...error) func(commit.Request) ([]error, error) {
	return func(r commit.Request) ([]error, error) {
		if len(errs) == 0 {
			return make([]error, len(r.Offsets)), nil
		}
		err := errs[0]
		errs = errs[1:]
		return nil, err
	}
}

// offsets are those of each request's first entry.
func offsets(b *broker) (list []int64) {
	for _, r := range b.sent() {
		list = append(list, r.Offsets[0].Offset)
	}
	return list
}

func wantOffsets(t *testing.T, b *broker, want ...int64) {
	t.Helper()
	got := offsets(b)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("sent %v, want %v", got, want)
		}
	}
}

// A commit that was given up may be worked off after the one that came later over another connection.
func TestWhatAGhostMayOverwriteIsSentOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{answer: script(errCut)}
		l := run(t, b)
		c := l.Claim(&me{generation: 1}, "t", 0)
		c.Commit(at(5))
		synctest.Wait()
		c.Commit(at(6))
		time.Sleep(time.Second)
		wantOffsets(t, b, 5, 6)
		if n := l.Unanswered(); n != 0 {
			t.Errorf("%d claims wait for an answer while one only waits for ghosts", n)
		}
		time.Sleep(time.Hour)
		wantOffsets(t, b, 5, 6, 6)
	})
}

// What is committed meanwhile does not wait for ghosts, and is what is sent in the end.
func TestNewerCommitsDoNotWaitForGhosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{answer: script(errCut)}
		c := run(t, b).Claim(&me{generation: 1}, "t", 0)
		c.Commit(at(5))
		time.Sleep(time.Second)
		for o := range int64(3) {
			c.Commit(at(6 + o))
			synctest.Wait()
		}
		wantOffsets(t, b, 5, 5, 6, 7, 8)
		time.Sleep(time.Hour)
		wantOffsets(t, b, 5, 5, 6, 7, 8, 8)
	})
}

// The claim that sent the ghost may be over, and the member have the partition again in the same generation.
func TestAGhostOutlivesItsClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{takes: time.Second, answer: script(errCut)}
		l := run(t, b)
		old := l.Claim(&me{generation: 1}, "t", 0)
		old.Commit(at(5))
		synctest.Wait()
		given, cancel := context.WithCancel(t.Context())
		cancel()
		old.Release(given)
		c := l.Claim(&me{generation: 1}, "t", 0)
		if err := c.Store(t.Context(), at(5)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		wantOffsets(t, b, 5, 5, 5)
	})
}

// The broker refuses what is of another generation, and an answer that refuses is an answer.
func TestNoGhostNoConfirmation(t *testing.T) {
	for name, first := range map[string]error{"another generation": errCut, "refused": sarama.ErrOffsetsLoadInProgress, "none": nil} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &broker{answer: script(first)}
				m := &me{generation: 1}
				c := run(t, b).Claim(m, "t", 0)
				c.Commit(at(5))
				synctest.Wait()
				if name == "another generation" {
					m.move(2)
				}
				c.Commit(at(6))
				time.Sleep(time.Hour)
				wantOffsets(t, b, 5, 6)
			})
		})
	}
}

// Whoever lets go does not wait for ghosts: the next generation is theirs to refuse. Nor is anything told as lost.
func TestAReleaseDoesNotWaitForGhosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{answer: script(errCut)}
		c := run(t, b).Claim(&me{generation: 1}, "t", 0)
		c.Commit(at(5))
		time.Sleep(time.Second)
		begin := time.Now()
		c.Release(t.Context())
		if took := time.Since(begin); took != 0 {
			t.Errorf("the release took %v", took)
		}
		time.Sleep(time.Hour)
		wantOffsets(t, b, 5, 5)
		for _, r := range b.results {
			if r.Verdict == commit.Dropped {
				t.Errorf("told as dropped: %+v", r)
			}
		}
	})
}

// Nor is a confirmation that is under way just then told, whatever becomes of it.
func TestAConfirmationIsNoLastWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{takes: 100 * time.Millisecond, answer: script(errCut, nil, errCut)}
		c := run(t, b).Claim(&me{generation: 1}, "t", 0)
		c.Commit(at(5))
		time.Sleep(2300 * time.Millisecond)
		wantOffsets(t, b, 5, 5, 5)
		c.Release(t.Context())
		time.Sleep(time.Hour)
		if last := b.results[len(b.results)-1]; last.Verdict != commit.Done {
			t.Errorf("the last word is %v, %v, want that the offset is stored", last.Verdict, last.Err)
		}
	})
}

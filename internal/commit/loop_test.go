package commit_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/commit"
	"github.com/evenkeel-go/evenkeel/internal/member"
)

// broker records requests and answers as the test says.
type broker struct {
	takes  time.Duration
	answer func(r commit.Request) ([]error, error)

	mu       sync.Mutex
	requests []commit.Request
	results  []commit.Result
	moved    int
	busy     bool
	overlaps int
}

func (b *broker) send(ctx context.Context, r commit.Request) ([]error, error) {
	b.enter(r)
	defer b.leave()
	select {
	case <-time.After(b.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if b.answer == nil {
		return make([]error, len(r.Offsets)), nil
	}
	return b.answer(r)
}

func (b *broker) enter(r commit.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests = append(b.requests, r)
	if b.busy {
		b.overlaps++
	}
	b.busy = true
}

func (b *broker) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.busy = false
}

func (b *broker) sent() []commit.Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.requests)
}

func (b *broker) notify(r commit.Result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.results = append(b.results, r)
}

// run starts a loop over b for the time of the test.
func run(t *testing.T, b *broker) *commit.Loop { return spaced(t, b, 0) }

func spaced(t *testing.T, b *broker, spacing time.Duration) *commit.Loop {
	l := commit.New(commit.Options{
		Spacing: spacing, Send: b.send, Notify: b.notify,
		Moved: func(context.Context) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.moved++
		},
		LookUp: func(context.Context, string, int32) (member.Position, error) { return at(42), nil },
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return l
}

// at is an offset without a text.
func at(offset int64) member.Position { return member.Position{Offset: offset} }

// me is an owner whose generation the test moves.
type me struct {
	mu         sync.Mutex
	generation int32
}

func (m *me) MemberID() string { return "m-1" }

func (m *me) Trust(int32) {}

func (m *me) Generation() int32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.generation
}

func (m *me) move(to int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.generation = to
}

func release(t *testing.T, c *commit.Claim, limit time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	c.Release(ctx)
}

func TestReleaseWaitsForTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{takes: 3 * time.Millisecond}
		l := run(t, b)
		c := l.Claim(&me{generation: 7}, "t", 3)
		c.Commit(at(10))
		release(t, c, time.Second)
		want := commit.Request{MemberID: "m-1", Generation: 7, Offsets: []commit.Offset{{Topic: "t", Partition: 3, Position: at(10)}}}
		if got := b.sent(); len(got) != 1 || !slices.Equal(got[0].Offsets, want.Offsets) || got[0].Generation != 7 || got[0].MemberID != "m-1" {
			t.Errorf("sent %+v, want %+v", got, want)
		}
	})
}

func TestWhatComesMeanwhileIsOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{takes: 10 * time.Millisecond}
		l := run(t, b)
		own := &me{generation: 1}
		var claims []*commit.Claim
		for p := range int32(20) {
			claims = append(claims, l.Claim(own, "t", p))
		}
		claims[0].Commit(at(1))
		synctest.Wait()
		for _, c := range claims {
			c.Commit(at(2))
			c.Commit(at(3))
		}
		for _, c := range claims {
			release(t, c, time.Second)
		}
		got := b.sent()
		if len(got) != 2 || len(got[1].Offsets) != 20 || got[1].Offsets[19].Offset != 3 {
			t.Errorf("sent %+v, want one request for all the latest offsets behind the first", got)
		}
		if b.overlaps != 0 {
			t.Errorf("%d requests overlapped", b.overlaps)
		}
	})
}

func TestNothingIsSentAfterRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{takes: time.Millisecond, answer: func(commit.Request) ([]error, error) { return nil, errors.New("cut off") }}
		l := run(t, b)
		c := l.Claim(&me{generation: 1}, "t", 0)
		c.Commit(at(5))
		release(t, c, time.Second)
		before := len(b.sent())
		if before < 2 {
			t.Errorf("tried %d times in a second, want some", before)
		}
		c.Commit(at(6))
		time.Sleep(time.Hour)
		if after := len(b.sent()); after != before {
			t.Errorf("%d requests after the release", after-before)
		}
	})
}

// The commit fence: each try carries the generation of the latest assignment.
func TestARetryCarriesTheLatestGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{takes: time.Millisecond}
		b.answer = func(r commit.Request) ([]error, error) {
			if r.Generation < 5 {
				return []error{sarama.ErrIllegalGeneration}, nil
			}
			return []error{nil}, nil
		}
		l := run(t, b)
		own := &me{generation: 4}
		c := l.Claim(own, "t", 0)
		c.Commit(at(9))
		time.Sleep(20 * time.Millisecond)
		own.move(5)
		release(t, c, time.Second)
		if got := b.sent(); len(got) != 2 || got[0].Generation != 4 || got[1].Generation != 5 {
			t.Errorf("sent %+v", got)
		}
	})
}

// B28: no more than a handful of attempts with a dead identity, however many tasks end meanwhile.
func TestARefusedIdentityIsNotAskedAgainWithEachTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{takes: time.Millisecond, answer: func(r commit.Request) ([]error, error) {
			return []error{sarama.ErrIllegalGeneration}, nil
		}}
		l := run(t, b)
		c := l.Claim(&me{generation: 1}, "t", 0)
		for o := range int64(3000) {
			c.Commit(at(o))
			time.Sleep(time.Millisecond)
		}
		if n := len(b.sent()); n > 8 {
			t.Errorf("%d attempts in 3 s", n)
		}
	})
}

func TestARemovedMemberCommitsNoMore(t *testing.T) {
	for _, answer := range []sarama.KError{sarama.ErrUnknownMemberId, sarama.ErrFencedInstancedId} {
		synctest.Test(t, func(t *testing.T) {
			b := &broker{answer: func(commit.Request) ([]error, error) { return []error{answer}, nil }}
			l := run(t, b)
			c := l.Claim(&me{generation: 1}, "t", 0)
			c.Commit(at(1))
			release(t, c, time.Hour)
			time.Sleep(time.Hour)
			if n := len(b.sent()); n != 1 {
				t.Errorf("%d attempts after %v", n, answer)
			}
			if r := b.results[0]; r.Verdict != commit.Lost {
				t.Errorf("verdict %v of %v", r.Verdict, answer)
			}
		})
	}
}

func TestOnePartitionsFaultIsNotTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{takes: time.Millisecond}
		b.answer = func(r commit.Request) ([]error, error) {
			errs := make([]error, len(r.Offsets))
			for i, o := range r.Offsets {
				if o.Partition == 1 {
					errs[i] = sarama.ErrUnknownTopicOrPartition
				}
			}
			return errs, nil
		}
		l := run(t, b)
		own := &me{generation: 1}
		good, bad := l.Claim(own, "t", 0), l.Claim(own, "t", 1)
		good.Commit(at(3))
		bad.Commit(at(4))
		synctest.Wait()
		time.Sleep(time.Second)
		if l.Stored("t", 0) != 3 || l.Stored("t", 1) != -1 {
			t.Errorf("stored %d and %d, want 3 and none", l.Stored("t", 0), l.Stored("t", 1))
		}
		release(t, good, time.Second)
		release(t, bad, time.Second)
		if l.Stored("t", 0) != -1 {
			t.Error("a partition that was given up is still told")
		}
	})
}

func TestAMovedCoordinatorIsLookedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{}
		n := 0
		b.answer = func(r commit.Request) ([]error, error) {
			if n++; n == 1 {
				return []error{sarama.ErrNotCoordinatorForConsumer}, nil
			}
			return []error{nil}, nil
		}
		l := run(t, b)
		c := l.Claim(&me{generation: 1}, "t", 0)
		c.Commit(at(1))
		release(t, c, time.Second)
		if b.moved != 1 || len(b.sent()) != 2 {
			t.Errorf("looked up %d times, sent %d requests", b.moved, len(b.sent()))
		}
	})
}

func TestJudge(t *testing.T) {
	for err, want := range map[error]commit.Verdict{
		nil:                                 commit.Done,
		sarama.ErrNoError:                   commit.Done,
		sarama.ErrRebalanceInProgress:       commit.Again,
		sarama.ErrIllegalGeneration:         commit.Again,
		sarama.ErrOffsetsLoadInProgress:     commit.Again,
		sarama.ErrNotCoordinatorForConsumer: commit.Again,
		sarama.ErrUnknown:                   commit.Again,
		errors.New("i/o timeout"):           commit.Again,
		sarama.ErrUnknownMemberId:           commit.Lost,
		sarama.ErrFencedInstancedId:         commit.Lost,
		sarama.ErrOffsetMetadataTooLarge:    commit.Refused,
		sarama.ErrInvalidCommitOffsetSize:   commit.Refused,
		sarama.ErrTopicAuthorizationFailed:  commit.Again,
		sarama.ErrUnknownTopicOrPartition:   commit.Again,
	} {
		if got := commit.Judge(err); got != want {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
}

package consumer_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/internal/commit"
	"github.com/evenkeel-go/evenkeel/internal/member"
)

// commits hears answers to commits.
type commits struct {
	mu   sync.Mutex
	list []consumer.Commit
}

func (c *commits) OnCommit(e consumer.Commit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, e)
}

func (c *commits) last(partition int32) (last consumer.Commit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.list {
		if e.Partition == partition {
			last = e
		}
	}
	return last
}

const (
	notStored = "stopped with finished tasks whose commits are not stored; the next owner runs them again"
	givenUp   = "a partition was given up with finished tasks whose commit is not stored: the next owner runs them again"
)

// What has finished and could not be committed is run again by the next owner: a stop says so for all partitions, in one entry and to the
// hooks, and a rebalance for each.
func TestAFinishedTaskWhoseCommitIsNotStoredIsTold(t *testing.T) {
	for _, stop := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			heard := &commits{}
			l := &ledger{answer: func(commit.Request) error { return errors.New("connection reset") }}
			m := detached(t, l, session(), func(c *consumer.Config) {
				c.Hooks, c.Logger = []any{heard}, slog.New(slog.NewTextHandler(&out, nil))
			})
			over, cancel := context.WithCancel(t.Context())
			cancel()
			claims := []member.Committer{m.session.Committer("t", 0), m.session.Committer("t", 1)}
			for i, c := range claims {
				c.Commit(member.Position{Offset: int64(5 + i)})
			}
			time.Sleep(time.Second)
			if stop {
				m.SetStopping()
			}
			for i, c := range claims {
				if e := heard.last(int32(i)); !e.Retrying {
					t.Errorf("before it is given up: %+v", e)
				}
				c.Release(over)
				if e := heard.last(int32(i)); e.Retrying || e.Err == nil || e.Offset != int64(5+i) {
					t.Errorf("the last word about partition %d is %+v", i, e)
				}
			}
			m.end()
			m.Stopped()
			want := map[string]bool{notStored: stop, `commits="[t/0@5 t/1@6]"`: stop, givenUp: !stop, "msg=stopped": true}
			for text, there := range want {
				if strings.Contains(out.String(), text) != there {
					t.Errorf("stop %v: %q is there %v, want %v:\n%s", stop, text, !there, there, &out)
				}
			}
		})
	}
}

// A claim of the partition that the member holds by then goes on from there, and a stamp finishes nothing: nobody need hear of either.
func TestWhatIsNotLostIsNoWarning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := &ledger{answer: func(commit.Request) error { return errors.New("connection reset") }}
		m := detached(t, l, session(), func(c *consumer.Config) { c.Logger = slog.New(slog.NewTextHandler(&out, nil)) })
		over, cancel := context.WithCancel(t.Context())
		cancel()
		before := m.session.Committer("t", 0)
		before.Commit(member.Position{Offset: 5})
		synctest.Wait()
		next, stamp := m.session.Committer("t", 0), m.session.Committer("t", 1)
		before.Release(over)
		if stamp.Store(over, member.Position{Offset: 3}) == nil {
			t.Error("it is stored")
		}
		stamp.Release(over)
		next.Release(over)
		m.end()
		m.Stopped()
		if strings.Contains(out.String(), "level=WARN") {
			t.Error(&out)
		}
	})
}

// A stop is told, also when no broker has answered before.
func TestAStopIsTold(t *testing.T) {
	var out bytes.Buffer
	c := newConsumer(t, func(cfg *consumer.Config) { cfg.Logger = slog.New(slog.NewTextHandler(&out, nil)) })
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := c.Run(ctx); err != nil || !strings.Contains(out.String(), "msg=stopped") {
		t.Errorf("Run returned %v and has told %s", err, &out)
	}
}

// An error of the leave says that it is one.
func TestAnErrorOfTheLeaveSaysSo(t *testing.T) {
	heard := &failures{}
	c := newMock(t).consumer(t, func(cfg *consumer.Config) { cfg.Hooks = []any{heard} })
	m, err := c.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.SetJoined()
	m.LeaveOver(late{err: sarama.ErrNotCoordinatorForConsumer})
	if len(heard.list) != 1 || !errors.Is(heard.list[0], sarama.ErrNotCoordinatorForConsumer) || !strings.HasPrefix(heard.list[0].Error(), "leave group reports: ") {
		t.Errorf("told of %v", heard.list)
	}
}

package handler_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/offset"
)

func (m *memberSession) Restart(string) {
	m.mu.Lock()
	m.restarts++
	m.mu.Unlock()
	m.cancel(sarama.ErrRebalanceInProgress)
}

func (m *memberSession) restarted() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.restarts
}

// old is a member that has handled three messages of a topic and holds no claim when it hears that the topic was deleted and created again.
// text is that of its last commit, with a map where the first message is not done.
func old(t *testing.T, order handler.Order, hole bool) (g *group, text string) {
	t.Helper()
	r := begin(t, ordered(t, order, 9), false, func(ctx context.Context, m *handler.Task) error {
		if m.Offset == 0 && hole && string(m.Value) == "v" {
			return obedient(time.Hour)(ctx, m)
		}
		return nil
	}, "a", "b", "c")
	time.Sleep(time.Minute)
	held := r.s
	r.assign()
	r.endSession(sarama.ErrRebalanceInProgress)
	r.TopicReplaced(topic)
	return r.group, held.lastText()
}

// claimNew claims partition 0 of a topic with messages from a given one on, where the group has a commit.
func claimNew(g *group, initial, first, end int64, stored int64, text string) *memberSession {
	m := newMemberSession()
	m.stored, m.text = stored, text
	g.s = m.session
	g.assign(0)
	c := newClaim(0, 0)
	c.initial, c.end = initial, end
	for o := first; o < end; o++ {
		c.messages <- &sarama.ConsumerMessage{Topic: topic, Offset: o, Value: []byte("new")}
	}
	g.consumeIn(m, c)
	time.Sleep(time.Minute)
	synctest.Wait()
	return m
}

// What the member has committed of a topic says nothing of the one that has its name now, wherever sarama starts in that. Nothing is
// skipped; where sarama starts beyond the beginning, it is committed and the session ends.
func TestACommitOfAnOldTopicCountsForNothing(t *testing.T) {
	for name, c := range map[string]struct {
		hole          bool
		initial, want int64 // where it starts, and how many run
		restarts      int
	}{
		"sarama starts at the commit":             {false, 3, 0, 1},
		"sarama starts at the beginning":          {true, 0, 9, 0},
		"the commit was beyond the end":           {false, sarama.OffsetOldest, 9, 0},
		"and the old log was not done":            {true, sarama.OffsetOldest, 9, 0},
		"sarama starts at the commit, with a map": {true, 1, 0, 1},
	} {
		for _, order := range []handler.Order{handler.ByPartition, handler.None} {
			inVirtualTime(t, func(t *testing.T) {
				g, text := old(t, order, c.hole)
				before := g.seen.count()
				stored := int64(3)
				if c.hole {
					stored = max(c.initial, 0)
				}
				m := claimNew(g, c.initial, max(c.initial, 0), 9, stored, text)
				if n := g.seen.count() - before; n != int(c.want) || m.restarted() != c.restarts {
					t.Errorf("%s, order %v: %d ran, want %d; %d restarts, want %d", name, order, n, c.want, m.restarted(), c.restarts)
				}
				if got := m.allMarks(); len(got) == 0 || got[0] != 0 || c.restarts > 0 && (len(got) > 1 || m.lastText() != "") {
					t.Errorf("%s, order %v: committed %v with %q, want the start first, and without a text where the session ends", name, order, got, m.lastText())
				}
				g.end()
			})
		}
	}
}

// What the member commits of the new topic counts, be it in the second in which it has heard of that.
func TestACommitOfTheNewTopicCounts(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g, _ := old(t, handler.None, false)
		m := claimNew(g, 0, 0, 5, 0, "") // its first act
		m.cancel(sarama.ErrRebalanceInProgress)
		before := g.seen.count()
		again := claimNew(g, 5, 5, 9, 5, m.lastText())
		if n := g.seen.count() - before; n != 4 || again.restarted() != 0 {
			t.Errorf("%d of 4 ran, %d restarts", n, again.restarted())
		}
		g.end()
	})
}

// A stamp counts from that of the owner before, whose clock may be ahead of ours.
func TestACommitOfAnOldTopicMayBeAheadOfTheClock(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		ahead := offset.State{Stamp: offset.Stamp{Owner: 1, Count: 1 << 40}}.Encode(4096)
		g := newGroup(t, ordered(t, handler.None, 9), nothing)
		m := claimNew(g, 0, 0, 3, 0, ahead)
		m.cancel(sarama.ErrRebalanceInProgress)
		g.TopicReplaced(topic)
		again := claimNew(g, 3, 3, 9, 3, m.lastText())
		if got := again.allMarks(); !slices.Equal(got, []int64{0}) || again.restarted() != 1 {
			t.Errorf("committed %v, %d restarts", got, again.restarted())
		}
		g.end()
	})
}

// A coordinator that has just taken over may tell sarama of the old commit when the start is committed, or when the broker has dropped what
// was committed of a deleted topic. Later on, sarama is believed.
func TestSaramaIsToldOfAnOldTopicsCommit(t *testing.T) {
	for name, c := range map[string]struct {
		stored   int64
		later    time.Duration
		marks    []int64
		restarts int
	}{
		"the start is committed": {0, 0, nil, 1},
		"nothing is committed":   {-1, 0, []int64{0}, 1},
		"long after":             {-1, time.Hour, []int64{3}, 0},
	} {
		inVirtualTime(t, func(t *testing.T) {
			g, _ := old(t, handler.None, false)
			time.Sleep(c.later)
			m := claimNew(g, 3, 3, 3, c.stored, "")
			if got := m.allMarks(); m.restarted() != c.restarts || !slices.Equal(got, c.marks) {
				t.Errorf("%s: committed %v, want %v; %d restarts, want %d", name, got, c.marks, m.restarted(), c.restarts)
			}
			g.end()
		})
	}
}

// A session ends once for all partitions of the topic: each has its start committed before.
func TestASessionEndsOnceForAReplacedTopic(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g, text := old(t, handler.None, false)
		m := newMemberSession()
		m.stored, m.text = 3, text
		g.s = m.session
		g.assign(0, 1, 2)
		m.ask = func(context.Context) { time.Sleep(100 * time.Millisecond) }
		for p := range int32(3) {
			c := newClaim(p, 0)
			c.initial, c.end = 3, 3
			g.consumeIn(m, c)
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := m.allMarks(); !slices.Equal(got, []int64{0, 0, 0}) || m.restarted() != 1 {
			t.Errorf("committed %v, %d restarts, want three starts and one", got, m.restarted())
		}
		g.end()
	})
}

// A generation is missed while the start is not stored: what another owner has done meanwhile stays.
func TestAMissedGenerationBeforeTheStartOfAReplacedTopicIsStored(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g, m, _ := waiting(t)
		m.next()
		m.next()
		m.stored, m.text, m.store = 7, "", nil
		g.assign(0)
		time.Sleep(time.Minute)
		if got := m.allMarks(); !slices.Equal(got, []int64{7}) || m.restarted() != 0 {
			t.Errorf("committed %v, want a stamp at 7; %d restarts", got, m.restarted())
		}
		g.end()
	})
}

// A revocation is not held up by a start that nobody stores.
func TestRevocationWhileTheStartOfAReplacedTopicIsWritten(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g, m, done := waiting(t)
		m.cancel(sarama.ErrRebalanceInProgress)
		if took := elapsed(func() { <-done }); took != 0 || m.restarted() != 0 {
			t.Errorf("the claim ended after %v, with %d restarts", took, m.restarted())
		}
		g.end()
	})
}

// waiting is a claim whose start is not stored.
func waiting(t *testing.T) (g *group, m *memberSession, done <-chan struct{}) {
	t.Helper()
	g, text := old(t, handler.None, false)
	m = newMemberSession()
	m.stored, m.text = 3, text
	m.store = func(ctx context.Context) { <-ctx.Done() }
	g.s = m.session
	g.assign(0)
	c := newClaim(0, 0)
	c.initial, c.end = 3, 10
	done = g.consumeIn(m, c)
	time.Sleep(time.Minute)
	synctest.Wait()
	return g, m, done
}

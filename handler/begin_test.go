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

// claimAt starts a claim of partition 0 with messages 0 to n-1 for a member that finds a commit with a text.
func claimAt(t *testing.T, o handler.Options, f handler.Func, n int, committed int64, text string) (*group, *memberSession, *claim) {
	t.Helper()
	g, m := newGroup(t, o, f), newMemberSession()
	g.s = m.session
	m.stored, m.text = committed, text
	c := newClaim(0, 0)
	c.initial, c.end = max(committed, sarama.OffsetOldest), int64(n)
	if committed < 0 {
		c.initial = sarama.OffsetOldest
	}
	c.put(int(max(committed, 0)), n)
	return g, m, c
}

func stampIn(t *testing.T, m *memberSession, committed int64) offset.Stamp {
	t.Helper()
	s, err := offset.Decode(m.lastText(), committed)
	if err != nil {
		t.Fatalf("the commit's text %q: %v", m.lastText(), err)
	}
	return s.Stamp
}

// Taking a partition over means: read the commit, stamp it, and start nothing before the broker has stored that.
func TestNothingStartsBeforeTheStampIsStored(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g, m, c := claimAt(t, options(t), nothing, 3, 0, "")
		m.store = func(ctx context.Context) { _ = sleepFor(ctx, time.Hour) }
		g.consumeIn(m, c)
		time.Sleep(59 * time.Minute)
		g.wantStarted()
		time.Sleep(2 * time.Minute)
		g.wantStarted(0, 1, 2)
		g.end()
	})
}

func sleepFor(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A revocation is not held up by a stamp that nobody stores, and nothing starts.
func TestRevocationWhileTheStampIsWritten(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g, m, c := claimAt(t, options(t), nothing, 3, 0, "")
		m.store = func(ctx context.Context) { <-ctx.Done() }
		done := g.consumeIn(m, c)
		time.Sleep(time.Minute)
		m.cancel(sarama.ErrRebalanceInProgress)
		if took := elapsed(func() { <-done }); took != 0 {
			t.Errorf("the claim ended after %v", took)
		}
		g.wantStarted()
		g.end()
	})
}

// The take-over count rises with each owner, and is seeded with the time, for a group that was deleted begins with none.
func TestTheStampRises(t *testing.T) {
	foreign := func(count int64) string {
		return offset.State{Stamp: offset.Stamp{Owner: 1, Count: count}, Next: 0}.Encode(4096)
	}
	for _, test := range []struct {
		name string
		text string
		want func(now int64) int64
	}{
		{"nobody before", "", func(now int64) int64 { return now }},
		{"an old owner", foreign(5), func(now int64) int64 { return now }},
		{"an owner ahead of the clock", foreign(1 << 40), func(int64) int64 { return 1<<40 + 1 }},
	} {
		inVirtualTime(t, func(t *testing.T) {
			g, m, c := claimAt(t, options(t), obedient(time.Hour), 3, 0, test.text)
			g.consumeIn(m, c)
			synctest.Wait()
			if s := stampIn(t, m, 0); s.Owner <= 1 || s.Count != test.want(time.Now().Unix()) {
				t.Errorf("%s: stamp %+v", test.name, s)
			}
			g.end()
		})
	}
}

// Claiming again what still has our stamp writes nothing.
func TestAnOwnStampIsNotWrittenAgain(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g, m, c := claimAt(t, options(t), nothing, 2, 0, "")
		done := g.consumeIn(m, c)
		time.Sleep(time.Minute)
		close(c.messages)
		<-done
		before := len(m.allMarks())
		again := newMemberSession()
		again.stored, again.text = 2, m.lastText()
		c = newClaim(0, 0)
		c.initial, c.end = 2, 3
		c.put(2, 3)
		g.s = again.session
		g.consumeIn(again, c)
		time.Sleep(time.Minute)
		if before < 2 || !slices.Equal(again.allMarks(), []int64{3}) {
			t.Errorf("%d marks in the first claim, %v in the second: want a stamp and what was done, and only what was done", before, again.allMarks())
		}
		g.end()
	})
}

// The map in a commit is honoured in every order: what is finished does not run, and no hole is passed over.
func TestFinishedTasksDoNotRunAgain(t *testing.T) {
	finished := offset.Ranges{{From: 3, To: 5}, {From: 6, To: 9}}
	for _, order := range []handler.Order{handler.ByPartition, handler.ByKey, handler.None} {
		for _, test := range []struct {
			name string
			text string
			want []int64
		}{
			{"ours", offset.State{Stamp: offset.Stamp{Owner: 7, Count: 7}, Next: 2, Finished: finished}.Encode(4096), []int64{2, 5, 9}},
			{"of another offset", offset.State{Next: 1, Finished: finished}.Encode(4096), []int64{2, 3, 4, 5, 6, 7, 8, 9}},
			{"foreign", "consumer-7@host", []int64{2, 3, 4, 5, 6, 7, 8, 9}},
		} {
			inVirtualTime(t, func(t *testing.T) {
				g, m, c := claimAt(t, ordered(t, order, 1), nothing, 10, 2, test.text)
				g.consumeIn(m, c)
				time.Sleep(time.Hour)
				if got := slices.Sorted(slices.Values(g.seen.all())); !slices.Equal(got, test.want) {
					t.Errorf("%v, a map %s: started %v, want %v", order, test.name, got, test.want)
				}
				g.wantCommitted(0, 10)
				g.end()
			})
		}
	}
}

// What was finished beyond a hole stays recorded until the hole is done, also in commits before it has come again.
func TestAMapThatIsTakenOverIsHandedOn(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		finished := offset.Ranges{{From: 5, To: 900}}
		text := offset.State{Stamp: offset.Stamp{Owner: 7, Count: 7}, Next: 2, Finished: finished}.Encode(4096)
		g, m, c := claimAt(t, ordered(t, handler.ByKey, 1), obedient(time.Hour), 4, 2, text)
		g.consumeIn(m, c)
		time.Sleep(90 * time.Minute) // 2 is done, 3 runs; 4 and all that follow have not come
		s, err := offset.Decode(m.lastText(), 3)
		if err != nil || !slices.Equal(s.Finished, finished) {
			t.Errorf("the map is %v, %v, want %v", s.Finished, err, finished)
		}
		g.end()
	})
}

// An owner before us that let tasks go on without a claim may hear only now that it has lost the partition.
func TestTheOneBeforeHasAMomentToCancel(t *testing.T) {
	text := func(owner uint64, running bool) string {
		s := offset.State{Stamp: offset.Stamp{Owner: owner, Count: 1}, Next: 0}
		if running {
			s.More = []offset.Section{{Tag: 2}}
		}
		return s.Encode(4096)
	}
	for running, want := range map[bool]time.Duration{true: 250 * time.Millisecond, false: 0} {
		inVirtualTime(t, func(t *testing.T) {
			var at time.Time
			g, m, c := claimAt(t, options(t), func(context.Context, *handler.Task) error {
				at = time.Now()
				return nil
			}, 1, 0, text(1, running))
			begin := time.Now()
			g.consumeIn(m, c)
			time.Sleep(time.Minute)
			synctest.Wait()
			if got := at.Sub(begin); got != want {
				t.Errorf("tasks were running %v: the first one started after %v, want %v", running, got, want)
			}
			g.end()
		})
	}
}

// Tasks that go on without a claim are told in the commit, and no more once they are taken over.
func TestACommitTellsOfTasksWithoutAClaim(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		r := begin(t, options(t), false, deaf(time.Hour), "a")
		running := func(text string) bool {
			s, err := offset.Decode(text, 0)
			return err == nil && slices.ContainsFunc(s.More, func(x offset.Section) bool { return x.Tag == 2 })
		}
		time.Sleep(time.Minute)
		first := r.s
		r.endSession(sarama.ErrRebalanceInProgress)
		if !running(first.lastText()) {
			t.Error("the last commit of the claim does not tell that its task goes on")
		}
		r.assign(0)
		r.start()
		if text := r.s.lastText(); text == "" || running(text) {
			t.Errorf("the next claim has committed %q", text)
		}
		r.assign()
		r.group.end()
	})
}

// A coordinator that has just taken over may answer for a moment with an older commit than sarama was told, or with none. Its map must not
// be lost by that.
func TestAnOldAnswerIsAskedAgain(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		text := offset.State{Stamp: offset.Stamp{Owner: 7, Count: 7}, Next: 2, Finished: offset.Ranges{{From: 3, To: 5}}}.Encode(4096)
		g, m, c := claimAt(t, ordered(t, handler.None, 1), nothing, 6, 2, text)
		begin := time.Now()
		m.ask = func(context.Context) {
			if m.stored, m.text = -1, ""; time.Since(begin) > 700*time.Millisecond {
				m.stored, m.text = 2, text
			}
		}
		g.consumeIn(m, c)
		time.Sleep(time.Minute)
		if got := slices.Sorted(slices.Values(g.seen.all())); !slices.Equal(got, []int64{2, 5}) {
			t.Errorf("started %v", got)
		}
		g.end()
	})
}

// A member that is none any more can stamp nothing, and starts nothing.
func TestNothingStartsWithoutAMembership(t *testing.T) {
	for _, refusal := range []error{sarama.ErrUnknownMemberId, sarama.ErrFencedInstancedId} {
		inVirtualTime(t, func(t *testing.T) {
			g, m, c := claimAt(t, options(t), nothing, 3, 0, "")
			m.refusal = refusal
			<-g.consumeIn(m, c)
			g.wantStarted()
			g.end()
		})
	}
}

// What the broker refuses for now is tried again, and nothing starts before the stamp is stored.
func TestNothingStartsWithoutAStamp(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g, m, c := claimAt(t, options(t), nothing, 3, 0, "")
		refuse := func(err error) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.refusal = err
		}
		refuse(sarama.ErrInvalidCommitOffsetSize)
		g.consumeIn(m, c)
		time.Sleep(time.Minute)
		g.wantStarted()
		refuse(nil)
		time.Sleep(time.Minute)
		g.wantStarted(0, 1, 2)
		g.end()
	})
}

// What held the commit up was compacted away, and all beyond it is finished: nothing runs, and the commit goes on.
func TestCommitGoesOnPastWhatIsGone(t *testing.T) {
	for _, order := range []handler.Order{handler.ByPartition, handler.ByKey, handler.None} {
		inVirtualTime(t, func(t *testing.T) {
			text := offset.State{Stamp: offset.Stamp{Owner: 7, Count: 7}, Next: 2, Finished: offset.Ranges{{From: 3, To: 6}}}.Encode(4096)
			g, m, c := claimAt(t, ordered(t, order, 1), nothing, 0, 2, text)
			c.end = 6
			c.put(3, 6)
			g.consumeIn(m, c)
			time.Sleep(time.Minute)
			g.wantStarted()
			g.wantCommitted(0, 6)
			g.end()
		})
	}
}

package consumer_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
)

// A member that drains joins with the others: their waiting shortens nothing.
func TestADrainIsNotHurried(t *testing.T) {
	for name, grace := range map[string]time.Duration{"drains": time.Hour, "does not": config.NoGrace} {
		synctest.Test(t, func(t *testing.T) {
			l := beginLed(t, config.Input{Expected: time.Minute, StopGrace: grace})
			l.m.SetStopping()
			l.stop()
			l.waits.Store(true)
			time.Sleep(10 * time.Second)
			hurried := false
			select {
			case <-l.own.Hurry():
				hurried = true
			default:
			}
			if hurried != (grace == config.NoGrace) {
				t.Errorf("%s: hurried %v", name, hurried)
			}
		})
	}
}

// The grace of a drain begins with the end of Run's context, and is what is left of it later.
func TestTheGraceOfADrainBeginsWithTheStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := beginLed(t, config.Input{Expected: time.Minute, StopGrace: time.Hour})
		l.stop()
		if l.own.Stopping() {
			t.Error("a stop before the drain")
		}
		time.Sleep(10 * time.Minute)
		if left := l.own.StopGrace(); left != 50*time.Minute {
			t.Errorf("%v left of an hour after ten minutes", left)
		}
	})
}

// Nobody waits for a task that was given up: its result counts for nothing.
func TestATaskThatWasGivenUpIsNoReasonToDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := beginLed(t, config.Input{Expected: time.Minute, StopGrace: time.Hour})
		l.deaf.Store(true)
		if !l.m.Works() {
			t.Error("no task runs")
		}
		l.m.Lose()
		<-l.claimed
		if s := l.m.Tasks().Status(); s.Stray != 1 || l.m.Works() {
			t.Errorf("works: %v, status %+v", l.m.Works(), s)
		}
		l.finish()
	})
}

// A drain ends when what has ended is stored too, for nobody else will commit it. A commit that is never answered is waited for a while.
func TestADrainWaitsForTheCommits(t *testing.T) {
	for name, test := range map[string]struct{ answered, least, most time.Duration }{
		"at once":     {0, 0, 100 * time.Millisecond},
		"in a moment": {3 * time.Second, 3 * time.Second, 5 * time.Second},
		"never":       {time.Hour, 10 * time.Second, 11 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := beginLed(t, config.Input{Expected: time.Minute, StopGrace: time.Hour})
			l.answers.Store(test.answered == 0)
			time.AfterFunc(test.answered, func() { l.answers.Store(true) })
			l.finish()
			begin := time.Now()
			l.m.AwaitDrained(t.Context())
			if took := time.Since(begin); took < test.least || took > test.most {
				t.Errorf("%s: it took %v, want %v to %v", name, took, test.least, test.most)
			}
		})
	}
}

// What has ended between two sessions is stored by the next one, if its own generation is over: who stops then needs that one. In a session the
// claim waits for the answer.
func TestWhatIsNotStoredIsAReasonToDrain(t *testing.T) {
	waits := config.Input{Expected: time.Minute, StopGrace: time.Hour}
	for name, test := range map[string]struct {
		in                         config.Input
		runs, stored, live, drains bool
	}{
		"between two sessions, not stored":              {in: waits, drains: true},
		"between two sessions, stored":                  {in: waits, stored: true},
		"between two sessions, running":                 {in: waits, runs: true, drains: true},
		"in the session, not stored":                    {in: waits, live: true},
		"not stored, where tasks are cancelled at once": {in: config.Input{Expected: time.Hour}, drains: true},
		"running, where tasks are cancelled at once":    {in: config.Input{Expected: time.Hour}, runs: true},
		"not stored, where nothing keeps a partition":   {in: config.Input{Expected: time.Minute, HoldLimit: config.NoHold}},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := beginLed(t, test.in)
			l.answers.Store(test.stored)
			if !test.live {
				l.m.EndSession()
			}
			if !test.runs {
				l.finish()
			}
			synctest.Wait()
			time.Sleep(time.Second)
			if l.m.Works() != test.runs {
				t.Fatalf("%s: works is %v", name, l.m.Works())
			}
			l.stop()
			if drains := l.m.WillDrain(); drains != test.drains {
				t.Errorf("%s: drains %v, want %v", name, drains, test.drains)
			}
		})
	}
}

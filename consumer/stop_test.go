package consumer_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
)

// A stop says, once, what running tasks have to expect.
func TestAStopSaysWhatTasksHaveToExpect(t *testing.T) {
	for want, in := range map[string]config.Input{
		"running tasks have until the end of the grace and are cancelled then; others get the partitions on which nothing runs meanwhile": {
			Expected: time.Minute, StopGrace: time.Hour,
		},
		"running tasks are cancelled now, and have the grace to return (config.Input.StopGrace lets them go on); the partitions go to others when": {Expected: time.Minute},
		"or of that of a rebalance if one comes": {Expected: time.Minute, StopGrace: time.Hour, HoldLimit: config.NoHold},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := beginLed(t, in)
			l.m.TellStop()
			l.m.TellStop()
			if log := l.log.String(); strings.Count(log, "stopping: ") != 1 || !strings.Contains(log, want) || !strings.Contains(log, "running=1 grace=") {
				t.Errorf("logged %s, want %s", log, want)
			}
		})
	}
}

func TestAStopWithoutTasksSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := beginLed(t, config.Input{Expected: time.Minute})
		l.finish()
		synctest.Wait()
		l.m.TellStop()
		if log := l.log.String(); !strings.Contains(log, "stopping: no task runs") {
			t.Errorf("logged %s", log)
		}
	})
}

// A task that hangs without a session is told of before Run returns, by its partition and by the end of Run.
func TestTasksThatHangAreToldOfBeforeRunReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := beginLed(t, config.Input{Expected: time.Minute, StopGrace: time.Minute})
		l.deaf.Store(true)
		l.stop()
		<-l.claimed
		l.m.SetStopping()
		begin := time.Now()
		l.m.Dismiss()
		l.m.EndRun()
		log := l.log.String()
		one := strings.Index(log, "did not return when its context was cancelled: its result will be dropped")
		all := strings.Index(log, `outlive Run`)
		if one < 0 || all < one || strings.Index(log, "msg=stopped") < all || !strings.Contains(log, "running=1") {
			t.Errorf("logged %s", log)
		}
		if took := time.Since(begin); took > time.Minute+2*time.Second {
			t.Errorf("the stop took %v", took)
		}
		l.finish()
	})
}

// Nobody is waited for where all tasks have returned.
func TestTheEndOfRunDoesNotWaitForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := beginLed(t, config.Input{Expected: time.Minute, StopGrace: time.Minute})
		l.stop()
		<-l.claimed
		l.m.Dismiss()
		_ = l.m.Tasks().Wait(context.Background())
		begin := time.Now()
		l.m.EndRun()
		if log := l.log.String(); time.Since(begin) > 0 || strings.Contains(log, "outlive") {
			t.Errorf("took %v and logged %s", time.Since(begin), log)
		}
	})
}

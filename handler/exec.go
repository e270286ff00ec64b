package handler

import "time"

// exec calls the handler for each task of the run. A panic, a Goexit or an error ends the run, so that nothing overtakes the
// failed message; one deferred call serves the whole run.
func (r *runner) exec() {
	i, n, clean := int32(-1), r.took, false
	defer func() {
		if !clean {
			r.fail(i, recovered(recover()))
		}
	}()
	intake, watched := r.intake, r.pool.hooks.perTask()
	for {
		if i = r.next.Add(1) - 1; i >= n { // the end, or the rest was taken back
			break
		}
		// The loop may not have seen it yet, and nothing starts after a revocation, nor where the process was frozen until the lease was over.
		if intake.Err() != nil || i == 0 && r.overdue != nil && r.overdue() {
			r.giveBack(i)
			break
		}
		t := r.task(i)
		if watched {
			if !r.watched(i, t) {
				break
			}
			continue
		}
		err := r.pool.handler.Handle(&t.call, t)
		t.call.End()
		if err != nil {
			r.fail(i, err)
			break
		}
	}
	clean = true
}

// recovered turns what recover returned into the task's error: it is nil only after a Goexit.
func recovered(v any) error {
	if v == nil {
		return ErrGoexit
	}
	return newPanicError(v)
}

// fail ends the run at task i. What comes after it goes back to the claim.
func (r *runner) fail(i int32, err error) {
	r.task(i).call.End()
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	r.cutLocked()
	r.err = err
}

// giveBack ends the run before task i, which counts as started but is not, because the intake has ended. The claim's loop may be
// at something else, so the claim is closed here: its runner would come back for the same task over and over.
func (r *runner) giveBack(i int32) {
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	adopted := r.claim.intake != r.intake // it is the next claim's now, which goes on
	if !adopted {
		r.pool.closeLocked(r.claim)
	}
	if i < r.n {
		r.takeBackLocked(i)
	}
	if adopted {
		r.pool.readyLocked(r.claim)
	}
}

// watched runs one task for those who hear of each start and end, and says whether the run goes on.
func (r *runner) watched(i int32, t *Task) (goOn bool) {
	p := r.pool
	begin := p.now()
	p.hooks.started(t.ConsumerMessage)
	err := ErrGoexit // unless the handler returns or panics
	defer func() {
		if v := recover(); v != nil {
			err = newPanicError(v)
		}
		r.report(i, t, err, p.now()-begin)
	}()
	err = p.handler.Handle(&t.call, t)
	return err == nil
}

// report settles task i at once, for only the settlement tells what its result is worth, and tells the hooks.
func (r *runner) report(i int32, t *Task, err error, elapsed time.Duration) {
	if err != nil {
		r.fail(i, err)
	} else {
		t.call.End()
	}
	r.pool.mu.Lock()
	outcome := r.settleLocked(i + 1)
	c := r.claim
	tell := outcome == Stray && c.tellsLocked(r)
	r.pool.mu.Unlock()
	if tell {
		c.tellLate(&late{task: t, err: err, elapsed: elapsed})
	}
	r.pool.hooks.ended(TaskEnd{Message: t.ConsumerMessage, Outcome: outcome, Err: err, Attempt: int(t.attempt), Elapsed: elapsed})
}

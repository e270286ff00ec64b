package check

import (
	"slices"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
	"github.com/evenkeel-go/evenkeel/internal/offset"
)

// losses wants each message of the log to have a run that succeeded (S1).
func (r *Report) losses() {
	for _, e := range r.story.events {
		if e.Kind != ledger.Produced {
			continue
		}
		for o := range e.Offset {
			m := message{placeOf(e), o}
			r.holds(r.story.done[m] != nil, where{rule: "S1", at: e.At, of: &m}, "%s %d@%d has no run that succeeded", m.group, m.partition, o)
		}
	}
	if r.Checked["S1"] == 0 {
		r.Unchecked["S1"] = "the run was not brought to its end"
	}
}

// state is what a commit says. One that is not ours has no map.
func state(e ledger.Event) offset.State {
	s, _ := offset.Decode(e.Text, e.Offset)
	return s
}

// prefixes wants all that a commit calls finished to have finished by then (S2).
func (r *Report) prefixes() {
	for at, list := range r.story.stored {
		seen := int64(0) // up to where the prefix was looked at
		for i, e := range list {
			m := message{at, e.Offset}
			r.holds(e.Offset >= seen || r.ghost(at, list, i), where{rule: "S2", at: e.At, of: &m}, "the commit of %s %d goes back from %d to %d", at.group, at.partition, seen, e.Offset)
			r.finished(at, e, offset.Range{From: seen, To: e.Offset}, "below its offset")
			seen = max(seen, e.Offset)
			for _, x := range state(e).Finished {
				r.finished(at, e, x, "in its map")
			}
		}
	}
}

// answered wants each commit of which a member was told that it is stored to be so by then (S2).
func (r *Report) answered() {
	for _, e := range r.story.events {
		if e.Kind == ledger.Answered && e.Err == "" {
			m := message{placeOf(e), e.Offset}
			stored := slices.ContainsFunc(r.story.stored[m.place], func(s ledger.Event) bool {
				return s.Offset >= e.Offset && s.Wall <= e.Wall+int64(time.Millisecond) // which is what a broker's time is exact to
			})
			r.holds(stored, where{rule: "S2", at: e.At, of: &m}, "%s was told that its commit of %s %d at %d is stored, and it is not", e.Member, e.Group, e.Partition, e.Offset)
		}
	}
}

func (r *Report) finished(at place, e ledger.Event, x offset.Range, part string) {
	for o := x.From; o < x.To; o++ {
		m := message{at, o}
		done := r.story.done[m]
		ok := done != nil && done.wall <= e.Wall
		r.holds(ok, where{rule: "S2", at: e.At, of: &m}, "the commit of %s %d at %d has %d %s, which had not succeeded", at.group, at.partition, e.Offset, o, part)
	}
}

// cover finds the first commit that has each message.
func (s *story) cover() {
	for at, list := range s.stored {
		next := int64(0)
		for _, e := range list {
			for o := next; o < e.Offset; o++ {
				s.coverOne(message{at, o}, e.Wall)
			}
			next = max(next, e.Offset)
			for _, x := range state(e).Finished {
				for o := x.From; o < x.To; o++ {
					s.coverOne(message{at, o}, e.Wall)
				}
			}
		}
	}
}

func (s *story) coverOne(m message, wall int64) {
	if _, ok := s.covered[m]; !ok {
		s.covered[m] = wall
	}
}

// stamps wants the take-over counts of a partition to rise, each with one owner (S3).
func (r *Report) stamps() {
	for at, list := range r.story.stored {
		owners, last := map[uint64]uint64{}, uint64(0)
		for i, e := range list {
			st := state(e).Stamp
			if st.Owner == 0 {
				continue // said by takeovers
			}
			count := uint64(st.Count)
			m := message{at, e.Offset}
			r.holds(count >= last || r.ghost(at, list, i), where{rule: "S3", at: e.At, of: &m}, "the commit of %s %d at %d has take-over count %d after %d", at.group, at.partition, e.Offset, count, last)
			if owner, known := owners[count]; known {
				r.holds(owner == st.Owner, where{rule: "S3", at: e.At, of: &m}, "take-over %d of %s %d has two owners", count, at.group, at.partition)
			}
			owners[count], last = st.Owner, max(last, count)
		}
	}
}

// takeovers wants nothing to be stored of who had a partition before, once another process has begun to claim it (S3): also before that one
// has stored anything.
func (r *Report) takeovers() {
	held := r.story.held()
	of := r.story.owners(held)
	for at, list := range r.story.stored {
		for _, e := range list {
			owner, now := state(e).Stamp.Owner, holder(held[at], e)
			m := message{at, e.Offset}
			r.holds(owner != 0, where{rule: "S3", at: e.At, of: &m}, "the commit of %s %d at %d does not say whose it is", at.group, at.partition, e.Offset)
			if known := of[writer{at.group, owner}]; now != "" && known != "" {
				r.holds(known == now, where{rule: "S3", at: e.At, of: &m}, "%s has stored a commit of %s %d at %d, and %s had begun to claim it", known, at.group, at.partition, e.Offset, now)
			}
		}
	}
}

// results wants a result to be dropped once another process has claimed the partition after its own has let it go (S3), also where its own has it
// again later: what is committed has a run that succeeded before, and nobody else had the partition between that run's claim and the commit.
func (r *Report) results() {
	held := r.story.held()
	for m, wall := range r.story.covered {
		if r.story.done[m] == nil {
			continue // said by prefixes
		}
		ok := slices.ContainsFunc(r.story.of[m], func(x *run) bool {
			return x.good && x.wall <= wall && !r.story.passedOn(x, held[m.place], wall)
		})
		r.holds(ok, where{rule: "S3", at: r.story.done[m].end, of: &m}, "%s %d@%d is committed by a result that came after its partition had gone to another process", m.group, m.partition, m.offset)
	}
}

// passedOn says that another process has begun to claim the partition of a run after the run's claim had ended, and before a time.
func (s *story) passedOn(x *run, held []claim, wall int64) bool {
	if x.claim == 0 {
		return false // said by resumes
	}
	mine := s.claims[seat{x.process, x.place}][x.claim-1]
	return slices.ContainsFunc(held, func(c claim) bool {
		return c.process != x.process && !c.stale && c.begin > mine.end && c.wall < wall-int64(time.Millisecond)
	})
}

// writer is who has stored a commit: a member has one name in all partitions of its group.
type writer struct {
	group string
	owner uint64
}

// owners finds the process of each: that which claimed the partitions when most of its commits were stored.
func (s *story) owners(held map[place][]claim) map[writer]string {
	votes, most, of := map[writer]map[string]int{}, map[writer]int{}, map[writer]string{}
	for at, list := range s.stored {
		for _, e := range list {
			w, now := writer{at.group, state(e).Stamp.Owner}, holder(held[at], e)
			if votes[w] == nil {
				votes[w] = map[string]int{}
			}
			if now == "" {
				continue
			}
			if votes[w][now]++; votes[w][now] > most[w] {
				most[w], of[w] = votes[w][now], now
			}
		}
	}
	return of
}

// holder is the process that had begun to claim a partition when a commit was stored, "" where it is not known: a claim that begins when a newer
// generation was heard of already may be that of a member that was removed.
func holder(held []claim, e ledger.Event) string {
	next := slices.IndexFunc(held, func(c claim) bool { return c.wall > e.Wall-int64(time.Millisecond) })
	if next < 0 {
		next = len(held)
	}
	if next == 0 || held[next-1].stale {
		return ""
	}
	return held[next-1].process
}

// ghost says that a commit is one that its member had given up unanswered, and was stored all the same, after later ones of the same owner. It
// counts them. The owner has to mend it: what it stores next is no older than what was overwritten. Where it could not any more, the next
// owner has begun from there.
func (r *Report) ghost(at place, list []ledger.Event, i int) bool {
	late, before := state(list[i]).Stamp, state(list[i-1])
	given := slices.ContainsFunc(r.story.unheard[at], func(e ledger.Event) bool {
		return e.Offset == list[i].Offset && e.Wall <= list[i].Wall
	})
	if !given || late.Owner != before.Stamp.Owner || i+1 == len(list) {
		return false
	}
	mended := state(list[i+1])
	r.late[&list[i]] = true
	return mended.Stamp.Owner != late.Owner || mended.Stamp.Count >= before.Stamp.Count && mended.Next >= before.Next
}

// texts wants each commit to be readable (S8).
func (r *Report) texts() {
	for at, list := range r.story.stored {
		for _, e := range list {
			m := message{at, e.Offset}
			_, err := offset.Decode(e.Text, e.Offset)
			r.holds(err == nil, where{rule: "S8", at: e.At, of: &m}, "the metadata of the commit of %s %d at %d cannot be read: %v", at.group, at.partition, e.Offset, err)
			r.holds(len(e.Text) <= offset.MaxText, where{rule: "S8", at: e.At, of: &m}, "the metadata of the commit of %s %d at %d has %d bytes", at.group, at.partition, e.Offset, len(e.Text))
		}
	}
}

// resumes wants a claim to start nothing that was committed as finished when it began (S4).
func (r *Report) resumes() {
	for _, x := range r.story.runs {
		claims := r.story.claims[seat{x.process, x.place}]
		if x.claim == 0 {
			r.holds(false, where{rule: "S4", at: x.begin, of: &x.message}, "%s starts %d@%d without a claim", x.process, x.partition, x.offset)
			continue
		}
		c := claims[x.claim-1]
		wall, ok := r.story.covered[x.message]
		r.holds(!ok || wall > c.wall, where{rule: "S4", at: x.begin, of: &x.message}, "%s starts %s %d@%d, which was committed as finished before its claim", x.process, x.group, x.partition, x.offset)
	}
}

// crashes wants processes to end by our hand only, and those that stop to have stopped in each group.
func (r *Report) crashes() {
	stopped := map[string]int{}
	for _, e := range r.story.events {
		if e.Kind == ledger.Gone {
			r.holds(e.Text == "killed" || e.Text == "stopped", where{rule: "L4", at: e.At}, "%s %s", e.Member, e.Text)
		}
		if e.Kind == ledger.Gone && e.Text == "stopped" {
			n := len(r.story.header.Groups)
			r.holds(stopped[e.Member] == n, where{rule: "L4", at: e.At}, "%s has stopped, and Run has returned in %d of %d groups", e.Member, stopped[e.Member], n)
		}
		if e.Kind == ledger.Stopped {
			stopped[e.Member]++
			r.holds(e.Err == "", where{rule: "L5", at: e.At}, "Run of %s in %s returned an error: %s", e.Member, e.Group, e.Err)
		}
	}
}

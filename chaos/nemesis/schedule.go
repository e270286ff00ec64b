// Package nemesis breaks things: each nemesis is one kind of fault, and a schedule of them follows from a seed.
package nemesis

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
)

// Step is one fault of a schedule.
type Step struct {
	Number int
	At     time.Duration // since the begin of the run
	Name   string        // of the nemesis
	Class  ledger.Class
	Lasts  time.Duration
	Lot    uint64 // whom it hits, and how
	// Patient: where what it is for has another fault it waits, and is not left out. So it is where faults come one by one.
	Patient bool
}

func (s Step) String() string {
	return fmt.Sprintf("#%d at %5.1f s: %s for %.1f s", s.Number, s.At.Seconds(), s.Name, s.Lasts.Seconds())
}

// calmAtBegin is for the members to come together, and calmAtEnd for the last faults to end.
const (
	calmAtBegin = 5 * time.Second
	calmAtEnd   = 15 * time.Second
)

// Pace is how long it is quiet between two faults, at least and at most, and how long after each stretch of them: what is promised of a
// stable group can be checked then.
type Pace struct{ Least, Most, Stretch, Rest time.Duration }

// Paces: that of minutes makes as many faults as recover in time, that of hours lets most of the time be ordinary.
var (
	ForMinutes = Pace{time.Second, 5 * time.Second, 80 * time.Second, 15 * time.Second}
	ForHours   = Pace{20 * time.Second, 60 * time.Second, 15 * time.Minute, 5 * time.Minute}
)

// Schedule draws faults for a run of that length from the seed: the same seed, length and pattern make the same schedule. In the first
// half they come one by one, with time to recover; in the second half as they come. Each nemesis has its turn before any has another.
func Schedule(seed uint64, length time.Duration, p Pace, pattern *regexp.Regexp) (steps []Step, err error) {
	r := rand.New(rand.NewPCG(seed, seed>>1))
	deck := deck{r: r, names: matching(pattern)}
	if len(deck.names) == 0 {
		return nil, fmt.Errorf("no nemesis matches %v: they are %v", pattern, Names())
	}
	rest := p.Stretch
	for at := calmAtBegin; at < length-calmAtEnd; {
		if at > rest {
			rest, at = at+p.Rest+p.Stretch, at+p.Rest
			continue
		}
		name := deck.draw()
		n := all[name]
		s := Step{Number: len(steps) + 1, At: at, Name: name, Class: n.class, Lasts: span(r, n.lasts[0], n.lasts[1]), Lot: r.Uint64(), Patient: at < length/2}
		steps = append(steps, s)
		if at < length/2 {
			at += s.Lasts
		}
		at += span(r, p.Least, p.Most)
	}
	return steps, nil
}

func matching(pattern *regexp.Regexp) (names []string) {
	for _, name := range Names() {
		if pattern.MatchString(name) {
			names = append(names, name)
		}
	}
	return names
}

func span(r *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(r.Int64N(int64(to-from)+1))
}

// deck deals all names before it shuffles them again.
type deck struct {
	r     *rand.Rand
	names []string
	rest  []string
}

func (d *deck) draw() string {
	if len(d.rest) == 0 {
		for _, i := range d.r.Perm(len(d.names)) {
			d.rest = append(d.rest, d.names[i])
		}
	}
	name := d.rest[0]
	d.rest = d.rest[1:]
	return name
}

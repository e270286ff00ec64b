// Package nemesis breaks things: each nemesis is one kind of fault, and a schedule of them follows from a seed.
package nemesis

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
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

// calmAtBegin is for the members to come together, and calmAtEnd for most of the last faults to end.
const (
	calmAtBegin = 5 * time.Second
	calmAtEnd   = 15 * time.Second
)

// Pace is how long it is quiet between the begins of two faults at least and at most, after the first one's end where they come one by one, and how
// long nothing begins after each stretch of them: what is promised of a stable group can be checked then, if they were short.
type Pace struct{ Least, Most, Stretch, Rest time.Duration }

// Paces: that of minutes makes many faults, which are felt one in the other, that of hours lets most of the time be ordinary.
var (
	ForMinutes = Pace{time.Second, 5 * time.Second, 80 * time.Second, 15 * time.Second}
	ForHours   = Pace{20 * time.Second, 60 * time.Second, 15 * time.Minute, 5 * time.Minute}
)

// part is a stretch of a schedule.
type part struct {
	until    time.Duration
	oneByOne bool
	deck     *deck
}

// shortestWithParts is for how long a run has to last at least, so that faults have room beside the planned changes.
const shortestWithParts = 2 * time.Minute

// Schedule draws faults for a run of that length from the seed: the same seed, length and pattern make the same schedule. For the first third
// planned changes are made alone, before any fault could be to blame for what they do; from then on everything is mixed: until half of the
// run one by one, and then as it comes. In a run of less than two minutes all comes as it comes. Each nemesis has its turn in a part before any has
// another.
func Schedule(seed uint64, length time.Duration, p Pace, pattern *regexp.Regexp) (steps []Step, err error) {
	r := rand.New(rand.NewPCG(seed, seed>>1))
	names := matching(pattern)
	if len(names) == 0 {
		return nil, fmt.Errorf("no nemesis matches %v: they are %v", pattern, Names())
	}
	mixed := &deck{r: r, names: names}
	parts := []part{{length - calmAtEnd, false, mixed}}
	if length >= shortestWithParts {
		parts = slices.Insert(parts, 0, part{length / 2, true, mixed})
		if planned := plannedOf(names); len(planned) > 0 {
			parts = slices.Insert(parts, 0, part{length / 3, true, &deck{r: r, names: planned}})
		}
	}
	c := calendar{r: r, pace: p, at: calmAtBegin, rest: p.Stretch}
	for _, p := range parts {
		c.fill(p)
	}
	return c.steps, nil
}

// calendar is a schedule that is being drawn up.
type calendar struct {
	r     *rand.Rand
	pace  Pace
	at    time.Duration // when the next step may begin
	rest  time.Duration // when it is quiet for long again
	steps []Step
}

// fill draws steps until the end of a part.
func (c *calendar) fill(p part) {
	for c.at < p.until {
		if c.at > c.rest {
			c.rest, c.at = c.at+c.pace.Rest+c.pace.Stretch, c.at+c.pace.Rest
			continue
		}
		name := p.deck.draw()
		n := all[name]
		lasts := span(c.r, n.lasts[0], n.lasts[1])
		c.steps = append(c.steps, Step{Number: len(c.steps) + 1, At: c.at, Name: name, Class: n.class, Lasts: lasts, Lot: c.r.Uint64(), Patient: p.oneByOne})
		if p.oneByOne {
			c.at += lasts
		}
		c.at += span(c.r, c.pace.Least, c.pace.Most)
	}
}

// plannedOf are those that are planned changes.
func plannedOf(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return all[name].class != ledger.Planned })
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

package strategy_test

import (
	"math/rand/v2"
	"testing"
)

// FuzzVouching lets processes of which some do not stamp be members now and then, under leaders that change; the group is deleted, and
// coordinators fail. What leaders say of stamps is true. Each byte is a choice.
func FuzzVouching(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		f.Add(choices(random))
	}
	f.Fuzz(vouch)
}

func TestWhatLeadersSayOfStampsIsTrue(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 2_000 {
		vouch(t, choices(random))
	}
}

func choices(random *rand.Rand) []byte {
	b := make([]byte, 60)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

func vouch(t *testing.T, choices []byte) {
	c := newCoordinator(t)
	for _, stamps := range []bool{true, true, true, false} {
		c.process(stamps)
	}
	for ; len(choices) >= 3; choices = choices[3:] {
		what, joined := choices[0], c.some(choices[1])
		c.quick = what%2 == 0
		switch {
		case what < 10:
			c.forget()
		case what < 30:
			c.fail()
		case len(joined) > 0 && what < 150: // a storm
			c.round(joined, nil)
		case len(joined) > 0:
			c.round(joined, both(joined, c.some(choices[2])))
		}
	}
}

// some are the processes that a byte picks: it has a bit for each, and more that say who comes first. The last one comes seldom.
func (c *coordinator) some(pick byte) (picked []*seat) {
	for i := range c.seats {
		at := (i + int(pick>>6)) % len(c.seats)
		if pick>>at&1 != 0 && (at < 3 || pick>>4&1 != 0) {
			picked = append(picked, c.seats[at])
		}
	}
	return picked
}

func both(a, b []*seat) (both []*seat) {
	for _, s := range a {
		for _, x := range b {
			if s == x {
				both = append(both, s)
			}
		}
	}
	return both
}

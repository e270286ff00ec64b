package retry_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/handler/retry"
)

const forever = time.Duration(math.MaxInt64)

func TestPolicyFillsInItsDefaults(t *testing.T) {
	for in, want := range map[retry.Policy]retry.Policy{
		{}:                      {Initial: time.Second, Max: time.Minute},
		{Initial: time.Hour}:    {Initial: time.Hour, Max: time.Hour},
		{Initial: 5}:            {Initial: 5, Max: time.Minute},
		{Max: 10 * time.Second}: {Initial: time.Second, Max: 10 * time.Second},
		{Max: time.Millisecond}: {Initial: time.Millisecond, Max: time.Millisecond},
		{Initial: 3, Max: 2}:    {Initial: 3, Max: 2},
		{Max: forever}:          {Initial: time.Second, Max: forever},
		{Initial: -1, Max: -5}:  {Initial: -1, Max: -5},
		{Initial: forever}:      {Initial: forever, Max: forever},
	} {
		if got := in.WithDefaults(); got != want {
			t.Errorf("%+v becomes %+v, want %+v", in, got, want)
		}
	}
}

func TestValidateNamesTheField(t *testing.T) {
	for in, want := range map[retry.Policy]string{
		{}:                               "",
		{Initial: time.Millisecond}:      "",
		{Initial: time.Hour}:             "",
		{Max: time.Millisecond}:          "",
		{Initial: forever, Max: forever}: "",
		{Initial: -1}:                    "Initial",
		{Initial: time.Millisecond - 1}:  "Initial",
		{Max: -1}:                        "Max",
		{Max: time.Microsecond}:          "Initial",
		{Initial: time.Second, Max: time.Millisecond}: "Max",
	} {
		err := in.Validate()
		switch {
		case want == "" && err != nil:
			t.Errorf("%+v: %v", in, err)
		case want != "" && (!errors.Is(err, retry.ErrPolicy) || !strings.Contains(err.Error(), want+" is")):
			t.Errorf("%+v: %v, want a fault of %s", in, err, want)
		}
	}
}

// Each pause is at most twice the one before, up to Max, less half of it at most; the random part uses the whole width.
func TestDelayDoublesWithJitter(t *testing.T) {
	p := retry.Policy{Initial: 100 * time.Millisecond, Max: time.Second}
	for attempt, most := range map[int]time.Duration{
		-1: 100 * time.Millisecond, 0: 100 * time.Millisecond, 1: 100 * time.Millisecond, 2: 200 * time.Millisecond,
		3: 400 * time.Millisecond, 4: 800 * time.Millisecond, 5: time.Second, 6: time.Second, math.MaxInt: time.Second,
	} {
		shortest, longest := forever, time.Duration(0)
		for range 2000 {
			d := p.Delay(attempt)
			shortest, longest = min(shortest, d), max(longest, d)
		}
		if shortest < most/2 || longest > most {
			t.Errorf("attempt %d: %v to %v, want %v to %v", attempt, shortest, longest, most/2, most)
		}
		if shortest > most*55/100 || longest < most*95/100 {
			t.Errorf("attempt %d: %v to %v is hardly random", attempt, shortest, longest)
		}
	}
}

// Doubling never overflows into a pause that is too short.
func TestDelayNeverOverflows(t *testing.T) {
	p := retry.Policy{Initial: 3 * time.Millisecond, Max: forever}
	for attempt := range 100 {
		if d := p.Delay(attempt); d < time.Millisecond || attempt > 60 && d < forever/2 {
			t.Errorf("attempt %d: %v", attempt, d)
		}
	}
}

func FuzzDelay(f *testing.F) {
	f.Add(int64(0), int64(0), 1)
	f.Add(int64(time.Second), int64(forever), 1_000_000)
	f.Add(int64(3), int64(forever), 62)
	f.Add(int64(-5), int64(-7), 5)
	f.Fuzz(func(t *testing.T, initial, most int64, attempt int) {
		p := retry.Policy{Initial: time.Duration(initial), Max: time.Duration(most)}
		d, q := p.Delay(attempt), p.WithDefaults()
		if d < 0 {
			t.Fatalf("%+v, attempt %d: pause %v", p, attempt, d)
		}
		if p.Validate() == nil && (d < q.Initial/2 || d > q.Max) {
			t.Fatalf("%+v, attempt %d: pause %v", p, attempt, d)
		}
	})
}

package config

import (
	"fmt"
	"strings"
	"time"
)

// maxWire is the longest duration that Kafka's protocol can carry: durations are 32 bit signed milliseconds there.
const maxWire = (1<<31 - 1) * time.Millisecond

// whole cuts a duration to whole milliseconds, which is all that the protocol can carry.
func whole(d time.Duration) time.Duration { return d.Truncate(time.Millisecond) }

// wholeUp lifts a duration to whole milliseconds, for values that must not get shorter.
func wholeUp(d time.Duration) time.Duration {
	return whole(d + time.Millisecond - time.Nanosecond)
}

// brief prints a duration without zero parts: 5m, not 5m0s.
func brief(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// size prints a number of bytes in the largest binary unit that divides it.
func size(n int64) string {
	switch {
	case n > 0 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n > 0 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}

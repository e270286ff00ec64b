package ledger

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now is the time of the monotonic clock that all processes of the machine share: times of different members can be compared.
func Now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err) // the system has no such clock, which no supported one lacks
	}
	return time.Duration(t.Nano())
}

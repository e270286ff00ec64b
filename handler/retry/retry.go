// Package retry says how long to pause before the next attempt of a failed task.
package retry

import "time"

// Policy is an exponential backoff with jitter.
type Policy struct {
	// Initial is the pause after the first failure. Default 1 s.
	Initial time.Duration
	// Max is the longest pause. Default 1 min.
	Max time.Duration
}

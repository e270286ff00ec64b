// Package span writes durations in texts for people.
package span

import (
	"strings"
	"time"
)

// Text writes a duration without zero parts, 5m and not 5m0s, as package config does.
func Text(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

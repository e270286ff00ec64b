package span_test

import (
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/span"
)

func TestText(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", time.Minute: "1m", time.Hour: "1h", 720 * time.Hour: "720h", 90 * time.Second: "1m30s", time.Hour + time.Second: "1h0m1s",
		90 * time.Minute: "1h30m", 10 * time.Second: "10s", -1: "-1ns", -time.Minute: "-1m",
	} {
		if got := span.Text(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

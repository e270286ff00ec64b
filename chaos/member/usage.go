package member

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
)

// watch writes down what the process has in use, until ctx ends.
func watch(ctx context.Context, out *ledger.Writer, members []one) {
	tick := time.NewTicker(sampleEach)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		clean := n%cleanEach == 0
		if clean {
			runtime.GC()
		}
		u := usage(members)
		u.Clean = clean
		out.Add(ledger.Event{Kind: ledger.Sampled, Usage: u})
	}
}

// cleanEach is each how many samples the garbage is collected, so that what is reachable shows.
const cleanEach = 20

func usage(members []one) *ledger.Usage {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := &ledger.Usage{Goroutines: runtime.NumGoroutine(), Heap: int64(m.HeapAlloc), RSS: resident(), Files: files()}
	for _, x := range members {
		st := x.Status()
		u.Claims += len(st.Claims)
		u.Running += st.Running
		u.Stray += st.Stray
		u.Kept += st.Kept
		for _, c := range st.Claims {
			u.Backlog += c.Backlog
			u.Lag += max(c.Lag, 0)
			if c.Paused && c.Backlog == 0 {
				u.Stuck++
			}
		}
	}
	return u
}

// resident is what the process has of the machine's memory, 0 where the system does not tell.
func resident() int64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(data))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// files is how many descriptors are open, 0 where the system does not tell.
func files() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}

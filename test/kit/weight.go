package kit

import (
	"encoding/json"
	"runtime"
	"time"
)

// Weight is what a process holds that has one member.
type Weight struct {
	Goroutines int
	Heap       int64 // bytes that are reachable
	// Of the member's Status, Claims being how many there are.
	Claims, Running, Stray, Kept int
}

// Weigh waits until the process of the member is at rest, which it has to be allowed to come to, and tells what it holds then.
func (p *Process) Weigh() (w Weight) {
	p.group.t.Helper()
	before := p.group.Count(Weighed, By(p.Name))
	p.order("weigh")
	told := p.group.UntilSeen(before+1, Weighed, By(p.Name))
	p.group.must(json.Unmarshal([]byte(told[before].Text), &w))
	return w
}

// weigh tells the history what the process holds.
func (m *Member) weigh() {
	w := Weight{Goroutines: restingGoroutines()}
	runtime.GC()
	runtime.GC() // what the first one has finalised
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	s := m.Status()
	w.Heap, w.Claims, w.Running, w.Stray, w.Kept = int64(mem.HeapAlloc), len(s.Claims), s.Running, s.Stray, s.Kept
	text, err := json.Marshal(w)
	m.group.Add(Event{Member: m.Name, Kind: Weighed, Offset: w.Heap, Text: string(text), Err: err})
}

// restingGoroutines is the least number of them in a second: what comes and goes with each heartbeat and fetch does not count.
func restingGoroutines() int {
	least := runtime.NumGoroutine()
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(glance) {
		least = min(least, runtime.NumGoroutine())
	}
	return least
}

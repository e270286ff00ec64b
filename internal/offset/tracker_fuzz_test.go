package offset_test

import "testing"

// FuzzTracker compares with a naive model: messages come with and without gaps, end in any order, the partition comes back to the same
// member, or goes to another one that reads the commit, what was not read yet is compacted away, and another log has a message where this
// one had none. Each byte is an operation.
func FuzzTracker(f *testing.F) {
	f.Add(int64(0), []byte("in order, mostly; AAAbbbCCC 0123456789"))
	f.Add(int64(1000), []byte{15, 15, 65, 70, 99, 200, 15, 80, 66, 201, 15, 215, 15, 15, 77, 95, 230, 15, 15, 240, 15, 250, 15})
	f.Add(int64(7), []byte{3, 20, 35, 20, 66, 70, 192, 250, 15, 80, 192, 15, 251, 90, 35, 35, 240, 252, 15})
	f.Add(int64(1)<<40, []byte{15, 31, 47, 15, 64, 66, 68, 70, 72, 192, 15, 15, 64, 64, 64, 208, 15, 15, 192, 3, 64, 192, 31, 31})
	f.Fuzz(func(t *testing.T, start int64, ops []byte) {
		m := newModel(t, start&(1<<40-1))
		for _, op := range ops[:min(len(ops), 120)] {
			m.apply(op)
			m.check()
		}
		for len(m.running) > 0 {
			m.finish(len(m.running) / 2)
			m.check()
		}
		m.finishLog()
	})
}

func (m *model) apply(op byte) {
	n := int(op % 16)
	switch {
	case op < 64:
		for i := range n + 1 {
			m.readOrProduce(int64(op/16) * int64(i*i) * 7 % 50)
		}
	case op < 192:
		m.finish(int(op-64) * 7)
	case op < 208:
		m.redeliver()
	case op < 224:
		m.compact(n)
	case op < 232:
		m.readOrProduce(1 << 20)
	case op < 248:
		m.restart()
	default:
		m.fill()
	}
}

// readOrProduce delivers the next message; at the end of the log it comes after a gap.
func (m *model) readOrProduce(gap int64) {
	if m.pos == len(m.log) {
		m.produce(gap)
	}
	m.deliver()
}

// finishLog reads all that is left to the end, with a restart in between, and wants all of it finished in the end.
func (m *model) finishLog() {
	m.restart()
	for m.pos < len(m.log) {
		m.deliver()
	}
	for len(m.running) > 0 {
		m.finish(0)
	}
	m.check()
	for _, o := range m.log {
		if !m.done[o] {
			m.t.Fatalf("%d never ran", o)
		}
	}
	if m.tracker.Pending() != 0 || len(m.tracker.Ranges()) != 0 {
		m.t.Fatalf("%d pending, ranges %v at the end", m.tracker.Pending(), m.tracker.Ranges())
	}
}

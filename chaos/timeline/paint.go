package timeline

import (
	"fmt"
	"html/template"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
)

// painter turns events into bars.
type painter struct {
	*picture
	*scale
	end       time.Duration
	fills     map[string]string    // by process
	open      map[any]ledger.Event // what has begun and not ended
	lastFault []time.Duration      // the end of the last fault in each row
}

// What is open is known by one of these.
type (
	claimID struct {
		process string
		row     row
	}
	taskID struct {
		process string
		call    int64
	}
	faultID int
)

func (p *painter) take(e ledger.Event) {
	at := row{e.Group, e.Partition}
	switch e.Kind {
	case ledger.Spawned:
		p.fill(e.Member)
	case ledger.Claimed:
		p.open[claimID{e.Member, at}] = e
	case ledger.Released:
		p.close(claimID{e.Member, at}, e)
	case ledger.Started:
		p.open[taskID{e.Member, e.Call}] = e
	case ledger.Canceled:
		if begin, ok := p.open[taskID{e.Member, e.Call}]; ok {
			begin.Text = "cancelled: " + e.Err
			p.open[taskID{e.Member, e.Call}] = begin
		}
	case ledger.Ended:
		p.close(taskID{e.Member, e.Call}, e)
	case ledger.Fault:
		p.open[faultID(e.Fault)] = e
	case ledger.Calm:
		p.close(faultID(e.Fault), e)
	case ledger.Gone:
		p.closeAll(e)
	default: // not drawn
	}
}

// fill is the colour of a process: all of a slot are alike.
func (p *painter) fill(process string) string {
	if f, ok := p.fills[process]; ok {
		return f
	}
	slot := process[:1]
	f := fmt.Sprintf("hsl(%d 60%% 55%%)", int(slot[0]-'A')*137%360)
	if _, known := p.fills[slot]; !known {
		p.fills[slot] = f
		p.Members = append(p.Members, swatch{slot, template.CSS(f)})
	}
	p.fills[process] = f
	return f
}

func (p *painter) close(id any, end ledger.Event) {
	begin, ok := p.open[id]
	if !ok {
		return
	}
	delete(p.open, id)
	switch id.(type) {
	case claimID:
		b := p.bar(begin.At, end.At, p.top[row{begin.Group, begin.Partition}], rowHeight-1)
		b.Fill, b.Text = p.fill(begin.Member), fmt.Sprintf("%s claims %s %d for %v, %s", begin.Member, begin.Group, begin.Partition, p.lasted(begin, end), end.Text)
		p.Claims = append(p.Claims, b)
	case taskID:
		p.Tasks = append(p.Tasks, p.task(begin, end))
	case faultID:
		p.Faults = append(p.Faults, p.fault(begin, end))
	}
}

func (p *painter) lasted(begin, end ledger.Event) time.Duration {
	return (end.At - begin.At).Round(time.Millisecond)
}

func (p *painter) task(begin, end ledger.Event) bar {
	b := p.bar(begin.At, end.At, p.top[row{begin.Group, begin.Partition}]+2.5, rowHeight-6)
	b.Class = "good"
	outcome := "succeeded"
	switch {
	case end.Kind == ledger.Gone:
		b.Class, outcome = "gone", "its process was gone"
	case begin.Text != "" && end.Err != "":
		b.Class, outcome = "cancelled", begin.Text
	case end.Err != "":
		b.Class, outcome = "failed", "failed: "+end.Err
	}
	b.Text = fmt.Sprintf("%s: %s %d@%d %s, %v, %s", begin.Member, begin.Group, begin.Partition, begin.Offset, begin.Key, p.lasted(begin, end), outcome)
	return b
}

// fault takes the first row that is free, the last one if none is.
func (p *painter) fault(begin, end ledger.Event) bar {
	i := 0
	for i < faultRows-1 && p.lastFault[i] > begin.At {
		i++
	}
	p.lastFault[i] = end.At
	b := p.bar(begin.At, end.At, 30+float64(i)*rowHeight, rowHeight-1)
	p.Labels = append(p.Labels, label{b.X + 2, b.Y + 8.5, begin.Text})
	b.Class, b.Text = string(begin.Class), fmt.Sprintf("#%d %s %s, %v", begin.Fault, begin.Text, begin.Member, p.lasted(begin, end))
	return b
}

// closeAll ends what a process had open when it was gone.
func (p *painter) closeAll(e ledger.Event) {
	for id := range p.open {
		switch x := id.(type) {
		case claimID:
			if x.process == e.Member {
				p.close(id, e)
			}
		case taskID:
			if x.process == e.Member {
				p.close(id, e)
			}
		}
	}
}

// rest draws what was still open at the end.
func (p *painter) rest() {
	for id := range p.open {
		p.close(id, ledger.Event{At: p.end, Text: "at the end"})
	}
}

func (p *painter) mark(m Mark) bar {
	y, ok := p.top[row{m.Group, m.Partition}]
	h := rowHeight
	if !ok {
		y, h = 20, p.height-40
	}
	b := p.bar(m.At, m.At, y-1, h+2)
	b.Text = m.Text
	return b
}

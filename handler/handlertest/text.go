package handlertest

import (
	"fmt"
	"strings"

	"github.com/evenkeel-go/evenkeel/handler"
)

// shown is how many entries of a list a failure text shows.
const shown = 20

// text describes what happened so far, for a test that fails.
func (r *Run) text() string {
	status := r.g.Status()
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	started := make([]string, len(r.started))
	for i, m := range r.started {
		started[i] = fmt.Sprintf("%s/%d@%d", m.Topic, m.Partition, m.Offset)
	}
	line(&b, "started", started)
	line(&b, "marked", markTexts(r.marks))
	line(&b, "committed", markTexts(r.commits))
	line(&b, "delivered", r.deliveredTexts())
	for _, c := range status.Claims {
		fmt.Fprintf(&b, "  claim      %s\n", claimText(c))
	}
	c := status.Counts
	fmt.Fprintf(&b, "  outcomes   succeeded %d, failed %d (panicked %d), cancelled %d, strays %d, abandoned %d",
		c.Succeeded, c.Failed, c.Panicked, c.Cancelled, c.Strays, c.Abandoned)
	return b.String()
}

// line writes one list, its end alone when it is long.
func line(b *strings.Builder, label string, all []string) {
	text := "nothing"
	if n := len(all); n > shown {
		text = fmt.Sprintf("(%d more) … %s", n-shown, strings.Join(all[n-shown:], " "))
	} else if n > 0 {
		text = strings.Join(all, " ")
	}
	fmt.Fprintf(b, "  %-10s %s\n", label, text)
}

func markTexts(marks []Mark) []string {
	texts := make([]string, len(marks))
	for i, m := range marks {
		texts[i] = fmt.Sprintf("%s/%d→%d", m.Topic, m.Partition, m.Offset)
	}
	return texts
}

func (r *Run) deliveredTexts() []string {
	var texts []string
	for _, p := range r.sorted() {
		texts = append(texts, p.text())
	}
	return texts
}

func (p *partition) text() string {
	switch {
	case p.claim == nil:
		return fmt.Sprintf("%s: %d messages up to offset %d, not claimed;", p, len(p.messages), p.next-1)
	case p.claim.source.end() != p.next:
		return fmt.Sprintf("%s: a partition consumer's messages up to offset %d, claimed;", p, p.claim.source.end()-1)
	}
	return fmt.Sprintf("%s: %d messages up to offset %d, claimed;", p, len(p.messages), p.next-1)
}

func claimText(c handler.ClaimStatus) string {
	text := fmt.Sprintf("%s/%d: backlog %d", c.Topic, c.Partition, c.Backlog)
	if c.Task != nil {
		text += fmt.Sprintf(", runs offset %d (attempt %d) for %v", c.Task.Offset, c.Task.Attempt, c.Task.Age)
	}
	if c.Retrying {
		text += ", a failed task waits for its next attempt"
	}
	if c.Blocked {
		text += ", blocked by a task that was given up and still runs"
	}
	return text
}

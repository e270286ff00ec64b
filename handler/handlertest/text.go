package handlertest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/span"
)

// shown is how many entries of a list a failure text shows.
const shown = 20

// text describes what happened so far, for a test that fails: one indented line for each list, partition and claim.
func (r *Run) text() string {
	status := r.g.Status()
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	list(&b, "started", messageTexts(r.started))
	list(&b, "marked", markTexts(r.marks))
	list(&b, "committed", markTexts(r.commits))
	for _, p := range r.sorted() {
		line(&b, "partition", p.text())
	}
	for _, c := range status.Claims {
		line(&b, "claim", claimText(c))
	}
	c := status.Counts
	line(&b, "outcomes", fmt.Sprintf("succeeded %d, failed %d (panicked %d), cancelled %d, strays %d, abandoned %d",
		c.Succeeded, c.Failed, c.Panicked, c.Cancelled, c.Strays, c.Abandoned))
	return strings.TrimSuffix(b.String(), "\n")
}

func line(b *strings.Builder, label, text string) { fmt.Fprintf(b, "  %-10s %s\n", label, text) }

// list writes one line, the end of the list alone when it is long.
func list(b *strings.Builder, label string, all []string) {
	switch n := len(all); {
	case n == 0:
		line(b, label, "nothing")
	case n > shown:
		line(b, label, fmt.Sprintf("(%d more) … %s", n-shown, strings.Join(all[n-shown:], " ")))
	default:
		line(b, label, strings.Join(all, " "))
	}
}

func messageTexts(messages []*sarama.ConsumerMessage) []string {
	texts := make([]string, len(messages))
	for i, m := range messages {
		texts[i] = fmt.Sprintf("%s/%d@%d", m.Topic, m.Partition, m.Offset)
	}
	return texts
}

func markTexts(marks []Mark) []string {
	texts := make([]string, len(marks))
	for i, m := range marks {
		texts[i] = fmt.Sprintf("%s/%d→%d", m.Topic, m.Partition, m.Offset)
	}
	return texts
}

// offsetText is a committed offset.
func offsetText(o int64) string {
	if o < 0 {
		return "nothing"
	}
	return strconv.FormatInt(o, 10)
}

func (p *partition) text() string {
	held := "not claimed"
	if p.claim != nil {
		held = "claimed"
	}
	return fmt.Sprintf("%s: %s, %s", p, p.deliveredText(), held)
}

func (p *partition) deliveredText() string {
	if p.claim != nil {
		if s, ok := p.claim.source.(*consumerSource); ok && s.end() == s.empty {
			return "no message of its partition consumer"
		} else if ok {
			return fmt.Sprintf("messages of a partition consumer up to offset %d", s.end()-1)
		}
	}
	switch n := len(p.messages); n {
	case 0:
		return "no message delivered"
	case 1:
		return fmt.Sprintf("1 message, offset %d", p.next-1)
	default:
		return fmt.Sprintf("%d messages up to offset %d", n, p.next-1)
	}
}

func claimText(c handler.ClaimStatus) string {
	parts := []string{fmt.Sprintf("%s/%d: backlog %d", c.Topic, c.Partition, c.Backlog)}
	for _, t := range c.Tasks {
		parts = append(parts, fmt.Sprintf("runs offset %d (attempt %d) for %v", t.Offset, t.Attempt, span.Text(t.Age.Round(time.Millisecond))))
	}
	if c.Retrying {
		parts = append(parts, "a failed task waits for its next attempt")
	}
	if c.Blocked {
		parts = append(parts, "blocked by a task that was given up and still runs")
	}
	return strings.Join(parts, ", ")
}

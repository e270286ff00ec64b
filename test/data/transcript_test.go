package data_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
)

// transcript is everything that a member logs, at every level.
type transcript struct {
	mu   sync.Mutex
	text strings.Builder
}

// record makes a member log there.
func (t *transcript) record(c *consumer.Config) {
	c.Logger = slog.New(slog.NewTextHandler(t, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func (t *transcript) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(b)
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// lines are those that contain part.
func (t *transcript) lines(part string) (found []string) {
	for line := range strings.Lines(t.String()) {
		if strings.Contains(line, part) {
			found = append(found, line)
		}
	}
	return found
}

// saramaLog is what sarama has logged in all tests of this binary. sarama has one logger for all.
var saramaLog transcript

// saramaLogger is the sarama.StdLogger that writes it.
type saramaLogger struct{ *transcript }

var _ sarama.StdLogger = saramaLogger{}

func (s saramaLogger) Print(v ...any)            { _, _ = fmt.Fprint(s, v...) }
func (s saramaLogger) Println(v ...any)          { _, _ = fmt.Fprintln(s, v...) }
func (s saramaLogger) Printf(f string, v ...any) { _, _ = fmt.Fprintf(s, f, v...) }

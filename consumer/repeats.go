package consumer

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"
)

// throttle writes a warning of one kind at most every half minute, and then says how many it kept back. It belongs to one goroutine.
type throttle struct {
	log  *slog.Logger
	seen repeats
}

func newThrottle(l *slog.Logger) *throttle { return &throttle{log: l} }

func (t *throttle) warn(kind, text string, attrs ...slog.Attr) {
	kept, due := t.seen.due(kind)
	if !due {
		return
	}
	t.log.LogAttrs(context.Background(), slog.LevelWarn, text, withRepeated(attrs, kept)...)
}

// withRepeated adds how many entries were kept back, if any were.
func withRepeated(attrs []slog.Attr, kept int) []slog.Attr {
	if kept == 0 {
		return attrs
	}
	return append(attrs, slog.Int("repeated", kept))
}

// repeats remembers what was told, by kind. The zero value is ready; it belongs to one goroutine.
type repeats map[string]*repeated

type repeated struct {
	at   time.Time
	kept int
}

const (
	quietFor  = 30 * time.Second
	mostKinds = 256 // then it forgets: the texts come from brokers
)

// due says whether a kind was not told for half a minute, and how often it was kept back since then.
func (s *repeats) due(kind string) (kept int, due bool) {
	kind = withoutOurEnd(kind)
	r := (*s)[kind]
	switch {
	case r == nil:
	case time.Since(r.at) < quietFor:
		r.kept++
		return 0, false
	default:
		kept = r.kept
	}
	if *s == nil || len(*s) >= mostKinds {
		*s = repeats{}
	}
	(*s)[kind] = &repeated{at: time.Now()}
	return kept, true
}

// withoutOurEnd takes our own end of a connection out of a text, local->remote: its port is another one each time.
func withoutOurEnd(text string) string {
	words := strings.Fields(text)
	for i, w := range words {
		if _, remote, ok := strings.Cut(w, "->"); ok {
			words[i] = remote
		}
	}
	return strings.Join(words, " ")
}

// class is the kind of failure that an error is: the texts of its roots, each once. What wraps them names brokers, ports and partitions,
// and several brokers that do not answer do it in another order each time.
func class(err error) string {
	var texts []string
	for _, root := range roots(err) {
		texts = append(texts, root.Error())
	}
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), ", ")
}

func roots(err error) (all []error) {
	switch e := err.(type) { //nolint:errorlint // the tree is walked here
	case interface{ Unwrap() []error }:
		for _, below := range e.Unwrap() {
			if below != nil {
				all = append(all, roots(below)...)
			}
		}
	case interface{ Unwrap() error }:
		if below := e.Unwrap(); below != nil {
			all = roots(below)
		}
	}
	if len(all) == 0 {
		return []error{err}
	}
	return all
}

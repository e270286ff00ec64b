package link

import (
	"maps"
	"slices"
	"sync"
)

// topics knows which of the topics that were ever asked for are missing, and tells of each change once, in order.
type topics struct {
	tell func(topic string, missing bool) // may be nil

	mu      sync.Mutex
	missing map[string]bool // a topic that was never asked for is not in it
	news    []news          // not told yet
	telling bool            // somebody tells; he takes what is added
}

type news struct {
	topic   string
	missing bool
}

func newTopics(tell func(string, bool)) *topics {
	return &topics{tell: tell, missing: make(map[string]bool)}
}

// known reports whether topic was asked for, and whether it was missing.
func (t *topics) known(topic string) (known, missing bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	missing, known = t.missing[topic]
	return known, missing
}

// names returns every topic that was asked for.
func (t *topics) names() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Keys(t.missing))
}

// note records what the cluster said.
func (t *topics) note(topic string, missing bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.missing[topic] != missing {
		t.news = append(t.news, news{topic, missing})
	}
	t.missing[topic] = missing
}

// publish tells what is new. Two refreshes may meet a topic at once, gone in the one and back in the other: whoever is telling
// already goes on with the news of both, so that the last word is the last state, and no lock is held over the callback.
func (t *topics) publish() {
	for {
		all := t.collect()
		if len(all) == 0 {
			return
		}
		for _, n := range all {
			if t.tell != nil {
				t.tell(n.topic, n.missing)
			}
		}
		t.told()
	}
}

// collect takes the news and the right to tell them, nil if there is nothing to do.
func (t *topics) collect() []news {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.telling {
		return nil
	}
	all := t.news
	t.news = nil
	t.telling = len(all) > 0
	return all
}

func (t *topics) told() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.telling = false
}

package link

import (
	"maps"
	"slices"
	"sync"

	"github.com/IBM/sarama"
)

// topics knows every topic that was ever asked for, and tells of each that goes or comes, once and in order.
type topics struct {
	tell func(news)

	mu      sync.Mutex
	states  map[string]topicState
	ids     map[string]identity
	fresh   map[string]bool // looked at since somebody last asked for its partitions
	news    []news          // not told yet
	telling bool            // somebody tells; he takes what is added
}

type topicState int

const (
	never   topicState = iota // not asked for
	missing                   // the cluster does not have it
	there                     // the cluster has it
	fetched                   // and sarama's own client was told about it
)

// identity tells topics of one name apart.
type identity struct{ now, before sarama.Uuid }

// news is one thing that happened to a topic.
type news struct {
	topic string
	what  event
}

type event int

const (
	gone     event = iota // the cluster does not have it any more
	back                  // it has
	replaced              // it has another one of the name
)

func newTopics(tell func(news)) *topics {
	return &topics{tell: tell, states: make(map[string]topicState), ids: make(map[string]identity), fresh: make(map[string]bool)}
}

// state returns what was last heard of a topic.
func (t *topics) state(topic string) topicState {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.states[topic]
}

// present reports whether topic was there when the cluster was last asked for it.
func (t *topics) present(topic string) bool { return t.state(topic) >= there }

// names returns every topic that was asked for.
func (t *topics) names() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Keys(t.states))
}

// note records what the cluster said. A topic that is there at the first look is no news.
func (t *topics) note(topic string, seen *view) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.states[topic]
	isMissing := seen.missing(topic)
	t.recogniseLocked(topic, seen.id(topic))
	switch {
	case isMissing && before != missing:
		t.states[topic] = missing
		t.news = append(t.news, news{topic, gone})
	case !isMissing && before < there:
		t.states[topic] = there
		if before == missing {
			t.news = append(t.news, news{topic, back})
		}
	}
}

// recogniseLocked finds a topic that is another one than before. A broker that lags behind may still tell of the one before.
func (t *topics) recogniseLocked(topic string, id sarama.Uuid) {
	known, none := t.ids[topic], sarama.Uuid{}
	if id == none || id == known.now || id == known.before {
		return
	}
	t.ids[topic] = identity{now: id, before: known.now}
	if known.now != none {
		t.news = append(t.news, news{topic, replaced})
	}
}

// fetch records that sarama's own client was told about topics.
func (t *topics) fetch(names []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range names {
		if t.states[name] == there {
			t.states[name] = fetched
		}
	}
}

// freshen records that topics were looked at on demand.
func (t *topics) freshen(names []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range names {
		t.fresh[name] = true
	}
}

// takeFresh reports whether topic was looked at since the last call.
func (t *topics) takeFresh(topic string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.fresh[topic]
	delete(t.fresh, topic)
	return was
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
			t.tell(n)
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

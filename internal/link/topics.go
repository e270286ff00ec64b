package link

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

// topics knows every topic that is subscribed or was asked for of late, and tells of each that goes or comes, once and in order.
type topics struct {
	tell func(news)
	keep time.Duration // how long one that is not subscribed is remembered after somebody has asked for it; 0 is for ever

	mu      sync.Mutex
	mine    []string // subscribed, sorted
	states  map[string]topicState
	asked   map[string]time.Time
	ids     map[string]identity // kept for ever: one that comes back after long may be another one too
	fresh   map[string]bool     // looked at since somebody last asked for its partitions
	news    []news              // not told yet
	telling bool                // somebody tells; he takes what is added
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

func newTopics(keep time.Duration, tell func(news)) *topics {
	return &topics{
		tell: tell, keep: keep, states: make(map[string]topicState), asked: make(map[string]time.Time),
		ids: make(map[string]identity), fresh: make(map[string]bool),
	}
}

// subscribe makes names the topics that are wanted whether or not somebody asks for them. When they change all others are forgotten;
// the balancer of a group's leader asks again for those of other members.
func (t *topics) subscribe(names []string) {
	names = slices.Sorted(slices.Values(names))
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.Equal(names, t.mine) {
		return
	}
	t.mine = names
	t.forgetLocked(func(name string) bool { return !t.isMineLocked(name) })
}

// ask records that somebody asks for topics.
func (t *topics) ask(names ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range names {
		t.asked[name] = time.Now()
	}
}

func (t *topics) isMineLocked(name string) bool {
	_, mine := slices.BinarySearch(t.mine, name)
	return mine
}

func (t *topics) forgetLocked(which func(name string) bool) {
	maps.DeleteFunc(t.states, func(name string, _ topicState) bool { return which(name) })
	maps.DeleteFunc(t.fresh, func(name string, _ bool) bool { return which(name) })
	maps.DeleteFunc(t.asked, func(name string, _ time.Time) bool { return which(name) })
}

// state returns what was last heard of a topic.
func (t *topics) state(topic string) topicState {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.states[topic]
}

// present reports whether topic was there when the cluster was last asked for it.
func (t *topics) present(topic string) bool { return t.state(topic) >= there }

// names returns every topic that is subscribed or was asked for of late, and forgets the others.
func (t *topics) names() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forgetLocked(func(name string) bool {
		return t.keep > 0 && !t.isMineLocked(name) && time.Since(t.asked[name]) > t.keep
	})
	return slices.Collect(maps.Keys(t.states))
}

// missing returns the topics that the cluster does not have, sorted.
func (t *topics) missing() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var gone []string
	for name, state := range t.states {
		if state == missing {
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)
	return gone
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

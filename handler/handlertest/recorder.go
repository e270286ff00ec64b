package handlertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
)

// recorder notes what is started, what has returned, and with which error.
type recorder struct {
	run     *Run
	handler handler.Handler
}

// place is where a message lies.
type place struct {
	topic     string
	partition int32
	offset    int64
}

// failures are the attempts of a message that failed, one after the other.
type failures struct {
	times int
	last  error
}

var errNoReturn = errors.New("the handler panicked, or ended its goroutine")

func (rec *recorder) Handle(ctx context.Context, t *handler.Task) error {
	m := t.ConsumerMessage
	rec.run.change(func(r *Run) { r.started, r.running = append(r.started, m), append(r.running, m) })
	err := errNoReturn // a panic and a Goexit are returns too
	defer func() {
		over := ctx.Err() != nil // cancelled: it has not failed
		rec.run.change(func(r *Run) {
			r.running = slices.DeleteFunc(r.running, func(o *sarama.ConsumerMessage) bool { return o == m })
			r.noteEnd(place{m.Topic, m.Partition, m.Offset}, err, over)
		})
	}()
	err = rec.handler.Handle(ctx, t)
	return err
}

// noteEnd takes the end of an attempt. The caller holds the lock.
func (r *Run) noteEnd(at place, err error, cancelled bool) {
	switch f := r.failing[at]; {
	case err == nil:
		delete(r.failing, at)
	case cancelled:
	case f == nil:
		r.failing[at] = &failures{1, err}
	default:
		f.times++
		f.last = err
	}
}

// failingText names the messages that fail, the first few of them: why not everything is handled.
func (r *Run) failingText() string {
	const most = 3
	r.mu.Lock()
	defer r.mu.Unlock()
	places := slices.SortedFunc(maps.Keys(r.failing), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.topic, b.topic), cmp.Compare(a.partition, b.partition), cmp.Compare(a.offset, b.offset))
	})
	var texts []string
	for _, at := range places[:min(len(places), most)] {
		f := r.failing[at]
		times := fmt.Sprintf("%d times", f.times)
		if f.times == 1 {
			times = "once"
		}
		texts = append(texts, fmt.Sprintf("%s/%d@%d failed %s, last: %v", at.topic, at.partition, at.offset, times, f.last))
	}
	if n := len(places) - most; n > 0 {
		texts = append(texts, fmt.Sprintf("and %d more failed", n))
	}
	return strings.Join(texts, "; ")
}

package member

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
	"github.com/evenkeel-go/evenkeel/handler"
)

// pipe is what a member writes into. The end of a context is written down by a goroutine of its own.
type pipe struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *pipe) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(data)
}

// kinds are the events so far, each with its error and text.
func (p *pipe) kinds(t *testing.T) (list []string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	b := ledger.NewBook(ledger.Header{}, nil)
	if err := b.Collect(bytes.NewReader(p.text.Bytes())); err != nil {
		t.Fatal(err)
	}
	for _, e := range b.Events() {
		if e.Group != "g" || e.Partition != 2 || e.Offset != 5 || e.Key != "k" || e.Call != 1 || e.Generation != 7 {
			t.Errorf("%+v", e)
		}
		list = append(list, string(e.Kind)+"/"+e.Text+"/"+e.Err)
	}
	return list
}

var errHere = errors.New("here")

// Each call is in the ledger before it does anything, and its end before the library hears of it, in whatever way it ends.
func TestEachCallIsWrittenDown(t *testing.T) {
	for name, test := range map[string]struct {
		work func(end context.CancelCauseFunc) error
		want []string
	}{
		"well":                    {func(context.CancelCauseFunc) error { return nil }, []string{"ended//"}},
		"fails":                   {func(context.CancelCauseFunc) error { return errHere }, []string{"ended//here"}},
		"panic":                   {func(context.CancelCauseFunc) error { panic("x") }, []string{"ended//did not return"}},
		"exit":                    {func(context.CancelCauseFunc) error { runtime.Goexit(); return nil }, []string{"ended//did not return"}},
		"cancelled, and succeeds": {func(end context.CancelCauseFunc) error { end(errHere); return nil }, []string{"cancelled//here", "ended/late/"}},
	} {
		t.Run(name, func(t *testing.T) {
			out, calls := &pipe{}, &atomic.Int64{}
			w := &witness{group: "g", ledger: ledger.NewWriter(out, "A.1"), calls: calls}
			w.latest.Store(7)
			ctx, end := context.WithCancelCause(t.Context())
			defer end(nil)
			task := &handler.Task{ConsumerMessage: &sarama.ConsumerMessage{Partition: 2, Offset: 5, Key: []byte("k")}}
			begun := w.around(func(context.Context, *handler.Task) error {
				if got := out.kinds(t); !slices.Equal(got, []string{"started//"}) {
					t.Errorf("at its begin the ledger has %v", got)
				}
				return test.work(end)
			})
			returned := make(chan struct{})
			go func() { // ends with the call
				defer close(returned)
				defer func() { _ = recover() }()
				_ = begun(ctx, task)
			}()
			<-returned
			want := append([]string{"started//"}, test.want...)
			for len(out.kinds(t)) < len(want) { // that of the context may come after
				runtime.Gosched()
			}
			got := out.kinds(t)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// asked is the error of a session that its member has ended for another round.
type asked struct{}

func (asked) Error() string        { return "another round" }
func (asked) Is(target error) bool { return target == handler.ErrRevoked }

func TestWhoBeganARoundIsWrittenDown(t *testing.T) {
	for cause, want := range map[error]string{
		asked{}:                                ledger.AsksAgain,
		sarama.ErrSessionPartitionCountChanged: ledger.HasGrown,
		sarama.ErrRebalanceInProgress:          "",
		context.Canceled:                       "",
	} {
		if got := own(cause); got != want {
			t.Errorf("%v: %q, want %q", cause, got, want)
		}
	}
}

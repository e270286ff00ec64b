package link_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/link"
)

const (
	group = "reports"

	// Keys of requests on the wire.
	offsetCommit    = 8
	findCoordinator = 10
	joinGroup       = 11
	heartbeat       = 12
	leaveGroup      = 13
	syncGroup       = 14
	saslHandshake   = 17
	describeConfigs = 32
	metadata        = 3
	listOffsets     = 2

	// patience is how long a test waits for what has to come.
	patience = 20 * time.Second
)

// world is a broker, the wire to it, and a configuration that uses it.
type world struct {
	broker  *sarama.MockBroker
	wire    *wire
	conf    *sarama.Config
	answers map[string]sarama.MockResponse
	log     *lines
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldAt(t, nil)
}

func newWorldAt(t *testing.T, listener net.Listener) *world {
	t.Helper()
	w := &world{wire: newWire(), log: &lines{}}
	if listener != nil {
		w.broker = sarama.NewMockBrokerListener(t, 1, listener)
	} else {
		w.broker = sarama.NewMockBroker(t, 1)
	}
	t.Cleanup(w.broker.Close)
	w.conf = sarama.NewConfig()
	w.conf.Version = sarama.V2_8_1_0
	w.conf.ApiVersionsRequest = false
	w.conf.Metadata.Full = false
	w.conf.Metadata.Retry.Max = 20
	w.conf.Net.DialTimeout = 5 * time.Second
	w.conf.Net.Proxy.Enable, w.conf.Net.Proxy.Dialer = true, w.wire
	w.answers = map[string]sarama.MockResponse{
		"MetadataRequest":        w.topics("orders"),
		"FindCoordinatorRequest": sarama.NewMockFindCoordinatorResponse(t).SetCoordinator(sarama.CoordinatorGroup, group, w.broker),
		"HeartbeatRequest":       sarama.NewMockHeartbeatResponse(t),
		"JoinGroupRequest":       sarama.NewMockJoinGroupResponse(t),
		"SyncGroupRequest":       sarama.NewMockSyncGroupResponse(t),
		"LeaveGroupRequest":      sarama.NewMockLeaveGroupResponse(t),
		"OffsetCommitRequest":    sarama.NewMockOffsetCommitResponse(t),
		"OffsetFetchRequest":     sarama.NewMockOffsetFetchResponse(t).SetOffset(group, "orders", 0, 42, "", sarama.ErrNoError),
	}
	w.answer()
	return w
}

// topics is a metadata answer in which the named topics exist, with two partitions each.
func (w *world) topics(names ...string) *sarama.MockMetadataResponse {
	m := sarama.NewMockMetadataResponse(nil).SetBroker(w.broker.Addr(), w.broker.BrokerID())
	for _, name := range names {
		m.SetLeader(name, 0, w.broker.BrokerID()).SetLeader(name, 1, w.broker.BrokerID())
	}
	return m
}

// answer makes the broker answer as w.answers says.
func (w *world) answer() { w.broker.SetHandlerByMap(w.answers) }

// hang makes the broker leave a kind of request without an answer.
func (w *world) hang(request string) {
	delete(w.answers, request)
	w.answer()
}

func (w *world) options() link.Options {
	return link.Options{
		Short: 5 * time.Second, Long: 20 * time.Second, Patience: 10 * time.Second,
		Logger: slog.New(slog.NewTextHandler(w.log, nil)),
	}
}

func (w *world) link(t *testing.T, change func(*link.Options)) *link.Link {
	t.Helper()
	opt := w.options()
	if change != nil {
		change(&opt)
	}
	l, err := link.New(t.Context(), []string{w.broker.Addr()}, group, w.conf, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// coordinator is the group connection's Broker.
func coordinator(t *testing.T, l *link.Link) *sarama.Broker {
	t.Helper()
	b, err := l.Coordinator(group)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func commitRequest(conf *sarama.Config) *sarama.OffsetCommitRequest {
	req := sarama.NewOffsetCommitRequest(conf, group)
	req.AddBlockWithLeaderEpoch("orders", 0, 7, -1, 0, "")
	return req
}

// eventually waits for a condition that has to come.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("never: %s\n%s", what, stacks[:runtime.Stack(stacks, true)])
		}
		time.Sleep(time.Millisecond)
	}
}

// wait returns what f returns, and fails the test if f hangs.
func wait[T any](t *testing.T, what string, result <-chan T) T {
	t.Helper()
	select {
	case v := <-result:
		return v
	case <-time.After(patience):
		stacks := make([]byte, 1<<20)
		t.Fatalf("hangs: %s\n%s", what, stacks[:runtime.Stack(stacks, true)])
		return *new(T)
	}
}

func async(f func() error) <-chan error {
	done := make(chan error, 1)
	// Ends with f.
	go func() { done <- f() }()
	return done
}

// lines collects log lines.
type lines struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// inFunction counts the goroutines that are in a function.
func inFunction(name string) int {
	stacks := make([]byte, 4<<20)
	n := 0
	for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		if strings.Contains(stack, name) {
			n++
		}
	}
	return n
}

func wantErr(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

package link_test

import (
	"bytes"
	"context"
	"encoding/binary"
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
	syncGroup       = 14
	saslHandshake   = 17
	metadata        = 3
	listOffsets     = 2

	// patience is how long a test waits for what has to come.
	patience = 20 * time.Second
)

// wire is the network between a Link and its brokers. It counts, holds back and breaks.
type wire struct {
	mu     sync.Mutex
	holes  map[string]bool            // addresses that swallow a dial
	gates  map[uint16][]chan struct{} // requests wait here before they are sent
	seen   map[uint16]int             // requests written, by key
	dialed []time.Time
	conns  map[*tap]bool
	plain  net.Dialer
}

func newWire() *wire {
	return &wire{holes: map[string]bool{}, gates: map[uint16][]chan struct{}{}, seen: map[uint16]int{}, conns: map[*tap]bool{}}
}

func (w *wire) Dial(network, addr string) (net.Conn, error) {
	return w.DialContext(context.Background(), network, addr)
}

func (w *wire) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	w.mu.Lock()
	w.dialed = append(w.dialed, time.Now())
	hole := w.holes[addr] || w.holes["*"]
	w.mu.Unlock()
	if hole {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	c, err := w.plain.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	t := &tap{Conn: c, wire: w}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns[t] = true
	return t, nil
}

// hole makes an address, or "*" for all, swallow what is sent to it: new connections and those that there are.
func (w *wire) hole(addr string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holes[addr] = true
}

func (w *wire) swallows(addr string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.holes[addr] || w.holes["*"]
}

// hold keeps the next request of a kind on its way until release is called, or the test ends. Later ones pass.
func (w *wire) hold(t *testing.T, key uint16) (release func()) {
	t.Helper()
	gate := make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gates[key] = append(w.gates[key], gate)
	release = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(release)
	return release
}

// note counts a request and takes the gate that it has to wait at, nil for none.
func (w *wire) note(key uint16) chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[key]++
	gates := w.gates[key]
	if len(gates) == 0 {
		return nil
	}
	w.gates[key] = gates[1:]
	return gates[0]
}

func (w *wire) count(key uint16) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen[key]
}

func (w *wire) dials() []time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]time.Time(nil), w.dialed...)
}

// open counts the sockets that are not closed.
func (w *wire) open() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.conns)
}

// breakAll closes every socket, as a reset of the network does.
func (w *wire) breakAll() {
	w.mu.Lock()
	conns := w.conns
	w.conns = map[*tap]bool{}
	w.mu.Unlock()
	for c := range conns {
		_ = c.Conn.Close()
	}
}

type tap struct {
	net.Conn
	wire *wire
}

// Write sends a request on, at once or when its gate opens.
func (t *tap) Write(b []byte) (int, error) {
	if t.wire.swallows(t.RemoteAddr().String()) {
		return len(b), nil
	}
	var gate chan struct{}
	if len(b) >= 6 {
		gate = t.wire.note(binary.BigEndian.Uint16(b[4:]))
	}
	if gate == nil {
		return t.Conn.Write(b)
	}
	late := bytes.Clone(b)
	// Ends when the test opens the gate.
	go func() {
		<-gate
		_ = t.SetWriteDeadline(time.Time{}) // that of the request is over
		_, _ = t.Conn.Write(late)
	}()
	return len(b), nil
}

func (t *tap) Close() error {
	t.wire.mu.Lock()
	delete(t.wire.conns, t)
	t.wire.mu.Unlock()
	return t.Conn.Close()
}

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

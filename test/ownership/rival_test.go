package ownership_test

import (
	"cmp"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/test/kit"
)

// rivals is the text of a rival's commits: not one of ours.
const rivals = "the rival's"

// rival is a group member that the test drives by hand. It offers the strategy that members of ours offer, so that it leads a group in
// which it was first, and gives whom it likes what it likes. It only sends heartbeats by itself.
type rival struct {
	*testing.T
	g        *kit.Group
	name     string
	terms    terms
	wire     *wire
	line     *sarama.Broker // joins and syncs
	side     *sarama.Broker // heartbeats and commits
	id       string
	now      atomic.Pointer[membership] // what heartbeats say, nil before the first join
	called   atomic.Int32               // the latest generation in which a heartbeat heard of a rebalance
	metadata map[string][]byte          // of all members at the last join, for the leader
	beats    sync.WaitGroup
	dead     chan struct{}
}

// terms are how a rival joins. Zero fields mean what most tests want.
type terms struct {
	instance           string
	topic              string // the group's
	session, rebalance time.Duration
	metadata           []byte
}

// membership is a member id of one generation.
type membership struct {
	id         string
	generation int32
}

// newRival is nobody's member yet, but has a member id.
func newRival(t *testing.T, g *kit.Group, name string, how terms) *rival {
	t.Helper()
	w := newWire()
	r := &rival{T: t, g: g, name: name, terms: how, wire: w, line: coordinator(t, g, w), side: coordinator(t, g, w), dead: make(chan struct{})}
	if how.instance == "" {
		r.register()
	}
	t.Cleanup(r.die)
	return r
}

// register gets a member id.
func (r *rival) register() {
	r.Helper()
	r.id = ""
	resp, err := r.line.JoinGroup(r.joinRequest())
	must(r.T, err)
	if !errors.Is(resp.Err, sarama.ErrMemberIdRequired) {
		r.g.Fatalf("%s has not got a member id: %v", r.name, resp.Err)
	}
	r.id = resp.MemberId
}

// leave tells the coordinator that the rival is no member any more. It may register again.
func (r *rival) leave() {
	r.Helper()
	resp, err := r.line.LeaveGroup(&sarama.LeaveGroupRequest{Version: 4, GroupId: r.g.Name, Members: []sarama.MemberIdentity{{MemberId: r.id}}})
	must(r.T, err)
	must(r.T, kerror(resp.Err))
}

// coordinator opens a connection to the group's coordinator.
func coordinator(t *testing.T, g *kit.Group, w *wire) *sarama.Broker {
	t.Helper()
	g.Committed(0) // the coordinator loads, if it has to
	conf := g.Broker.Config()
	conf.Net.Proxy.Enable, conf.Net.Proxy.Dialer = true, w
	conf.Net.ReadTimeout = 2 * time.Minute // a join waits for the slowest member
	client, err := sarama.NewClient(g.Broker.Addrs(), conf)
	must(t, err)
	defer client.Close()
	found, err := client.Coordinator(g.Name)
	must(t, err)
	b := sarama.NewBroker(found.Addr())
	must(t, b.Open(conf))
	return b
}

func (r *rival) joinRequest() *sarama.JoinGroupRequest {
	r.Helper()
	req := &sarama.JoinGroupRequest{
		Version: 5, GroupId: r.g.Name, MemberId: r.id, GroupInstanceId: r.instance(), ProtocolType: "consumer",
		SessionTimeout: milliseconds(r.terms.session), RebalanceTimeout: milliseconds(r.terms.rebalance),
	}
	protocol := sarama.CooperativeStickyBalanceStrategyName
	if r.g.Input.Eager {
		protocol = sarama.StickyBalanceStrategyName
	}
	if r.terms.metadata != nil {
		req.AddGroupProtocol(protocol, r.terms.metadata)
		return req
	}
	topic := cmp.Or(r.terms.topic, r.g.Topic)
	must(r.T, req.AddGroupProtocolMetadata(protocol, &sarama.ConsumerGroupMemberMetadata{Topics: []string{topic}}))
	return req
}

func (r *rival) instance() *string {
	if r.terms.instance == "" {
		return nil
	}
	return &r.terms.instance
}

// milliseconds of a timeout, 10 s if it is not set, as members of ours have.
func milliseconds(d time.Duration) int32 {
	if d == 0 {
		d = 10 * time.Second
	}
	return int32(d.Milliseconds())
}

// die ends all that the rival does, without a word to the coordinator.
func (r *rival) die() {
	select {
	case <-r.dead:
		return
	default:
	}
	close(r.dead)
	r.wire.cut() // Close waits for the answer that is out
	_, _ = r.line.Close(), r.side.Close()
	r.beats.Wait()
}

// join is a whole join: it returns when all members have joined, or the coordinator waits for them no longer.
func (r *rival) join() {
	r.Helper()
	r.beginJoin()()
}

// beginJoin sends a join, and returns what waits for the answer.
func (r *rival) beginJoin() (await func()) {
	r.Helper()
	type answer struct {
		*sarama.JoinGroupResponse
		error
	}
	got, req := make(chan answer, 1), r.joinRequest() // 1: nobody may wait for it any more
	go func() {                                       // ends with the connection
		resp, err := r.line.JoinGroup(req)
		got <- answer{resp, err}
	}()
	return func() {
		r.Helper()
		a := <-got
		must(r.T, a.error)
		must(r.T, kerror(a.Err))
		r.joined(a.JoinGroupResponse)
	}
}

func (r *rival) joined(resp *sarama.JoinGroupResponse) {
	r.metadata = map[string][]byte{}
	for _, m := range resp.Members {
		r.metadata[m.MemberId] = m.Metadata
	}
	first := r.now.Load() == nil
	r.id = resp.MemberId
	r.now.Store(&membership{r.id, resp.GenerationId})
	r.g.Add(kit.Event{Member: r.name, Kind: kit.Noted, Text: "joined, with all others that do"})
	if first {
		r.beats.Go(r.beat) // ends with die
	}
}

func (r *rival) generation() int32 { return r.now.Load().generation }

func (r *rival) beat() {
	for {
		m := r.now.Load()
		resp, err := r.side.Heartbeat(&sarama.HeartbeatRequest{
			Version: 3, GroupId: r.g.Name, MemberId: m.id, GenerationId: m.generation, GroupInstanceId: r.instance(),
		})
		if err == nil && errors.Is(resp.Err, sarama.ErrRebalanceInProgress) {
			r.called.Store(m.generation)
		}
		select {
		case <-r.dead:
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// awaitCall waits until the coordinator has asked the rival to join again.
func (r *rival) awaitCall() {
	r.Helper()
	r.g.Until(r.name+" hears of a rebalance", func() bool { return r.called.Load() == r.generation() })
}

// other is the one member beside the rival in the round that it leads.
func (r *rival) other() (id string) {
	r.Helper()
	for m := range r.metadata {
		if m != r.id {
			id = m
		}
	}
	if id == "" || len(r.metadata) != 2 {
		r.g.Fatalf("%d members are there, want 2", len(r.metadata))
	}
	return id
}

// give ends a round that the rival leads: one member gets all partitions, and the others get an assignment without any.
func (r *rival) give(owner string) {
	r.Helper()
	req := r.syncRequest()
	for id := range r.metadata {
		a := &sarama.ConsumerGroupMemberAssignment{Topics: map[string][]int32{}}
		if id == owner {
			a.Topics[r.g.Topic] = partitions(r.g)
		}
		must(r.T, req.AddGroupAssignmentMember(id, a))
	}
	r.sync(req)
}

func partitions(g *kit.Group) (all []int32) {
	for p := range g.Partitions {
		all = append(all, p)
	}
	return all
}

func (r *rival) syncRequest() *sarama.SyncGroupRequest {
	m := r.now.Load()
	return &sarama.SyncGroupRequest{Version: 3, GroupId: r.g.Name, MemberId: m.id, GenerationId: m.generation, GroupInstanceId: r.instance()}
}

// sync returns how many partitions the rival has got.
func (r *rival) sync(req *sarama.SyncGroupRequest) int {
	r.Helper()
	resp, err := r.line.SyncGroup(req)
	must(r.T, err)
	must(r.T, kerror(resp.Err))
	a, err := resp.GetMemberAssignment()
	must(r.T, err)
	r.g.Add(kit.Event{Member: r.name, Kind: kit.Assigned, Generation: r.generation(), MemberID: r.id})
	return len(a.Topics[r.g.Topic])
}

// follow is the sync of a rival that does not lead.
func (r *rival) follow() int {
	r.Helper()
	return r.sync(r.syncRequest())
}

// takesOver gives the rival what another member has, as the protocol asks for: a cooperative leader gives a partition away in the round
// after the one in which its owner has let it go.
func (r *rival) takesOver() {
	r.Helper()
	r.join()
	if !r.g.Input.Eager {
		r.give("nobody")
		r.awaitCall()
		r.join()
	}
	r.give(r.id)
}

// handle tells of a message of the first partition, on which the rival begins to work, and returns how it tells of the end.
func (r *rival) handle(offset int64) (end func()) {
	e := kit.Event{Member: r.name, Kind: kit.Started, Offset: offset, Call: offset}
	r.g.Add(e)
	return func() {
		e.Kind = kit.Returned
		r.g.Add(e)
	}
}

// commit stores an offset of the first partition.
func (r *rival) commit(offset int64, text string) {
	r.Helper()
	m := r.now.Load()
	req := &sarama.OffsetCommitRequest{
		Version: 7, ConsumerGroup: r.g.Name, ConsumerID: m.id, ConsumerGroupGeneration: m.generation, GroupInstanceId: r.instance(),
	}
	req.AddBlockWithLeaderEpoch(r.g.Topic, 0, offset, -1, 0, text)
	resp, err := r.side.CommitOffset(req)
	must(r.T, err)
	must(r.T, kerror(resp.Errors[r.g.Topic][0]))
	r.g.Add(kit.Event{Member: r.name, Kind: kit.Committed, Offset: offset})
}

func kerror(code sarama.KError) error {
	if errors.Is(code, sarama.ErrNoError) {
		return nil
	}
	return code
}

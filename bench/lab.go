package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/bench/record"
	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// patience bounds what is not measured but waited for.
const patience = 150 * time.Second

// lab holds the brokers, each started when a row asks for it.
type lab struct {
	ctx    context.Context //nolint:containedctx // of the program
	rounds int             // 0: as many as the row says
	alone  bool            // without the Parallel Consumer
	temp   string          // a folder
	node   *kafkatest.Node
	fake   *kafkatest.FakeBroker // where no real Kafka can be started
	java   *javaPeer
	fills  map[fill]*filled
	made   int
	record record.Writer
}

func newLab(ctx context.Context) (*lab, error) {
	temp, err := os.MkdirTemp("", "evenkeel-bench-")
	return &lab{ctx: ctx, temp: temp, fills: map[fill]*filled{}}, err
}

func (l *lab) close() {
	if l.node != nil {
		_ = l.node.Close()
	}
	if l.fake != nil {
		_ = l.fake.Close()
	}
	_ = os.RemoveAll(l.temp)
}

// say prints what a reader of the figures has to know.
func (l *lab) say(text string) { fmt.Println("# note:", strings.ReplaceAll(text, "\n", " ")) }

// absent notes why a row has no figures of a peer.
func (l *lab) absent(row, peer, why string) {
	l.say(fmt.Sprintf("%s: without %s: %s", row, peer, why))
	l.keep(record.Line{Absent: &record.Absent{Row: row, Peer: peer, Why: why}})
}

// keep writes a line for the report.
func (l *lab) keep(line record.Line) {
	if err := l.record.Write(line); err != nil {
		l.say("not recorded: " + err.Error())
	}
}

func (l *lab) roundsOr(n int) int { return cmp.Or(l.rounds, n) }

// The links of the node: two that rows may cut, and one whose requests are counted.
const ours, stock, countedLink = "OURS", "STOCK", "COUNTED"

func (l *lab) kafka() (*kafkatest.Node, error) {
	if l.node == nil {
		n, err := kafkatest.StartKafka(l.ctx, kafkatest.Options{Links: []string{ours, stock, countedLink}})
		if err != nil {
			return nil, err
		}
		l.node = n
	}
	return l.node, nil
}

// broker is the real one, or the in-process one where no real one can be started, which is said once.
func (l *lab) broker() (kafkatest.Broker, error) {
	if l.fake != nil {
		return l.fake, nil
	}
	if kafkatest.Available() == nil {
		return l.kafka()
	}
	l.say("on an in-process broker and without the Parallel Consumer, so that the baseline is none: " + kafkatest.Available().Error())
	l.alone = true
	var err error
	l.fake, err = kafkatest.StartFake()
	return l.fake, err
}

// name is new at each call.
func (l *lab) name(of string) string {
	l.made++
	return fmt.Sprintf("%s-%d", of, l.made)
}

// topic makes one with n messages on each partition.
func (l *lab) topic(of string, partitions int32, n int) (string, *kafkatest.Node, error) {
	b, err := l.kafka()
	if err != nil {
		return "", nil, err
	}
	name := l.name(of)
	if err := b.CreateTopic(name, partitions); err != nil {
		return "", nil, err
	}
	values := make([]string, n)
	for p := range partitions {
		if err := b.Produce(name, p, values...); err != nil {
			return "", nil, err
		}
	}
	return name, b, nil
}

// member is a consumer that runs.
type member struct {
	*consumer.Consumer
	began  time.Time
	cancel context.CancelFunc
	done   chan struct{}
	err    error
}

// start runs a member of a group that is named like its topic.
func (l *lab) start(b kafkatest.Broker, topic string, in config.Input, f handler.Func, hooks ...any) (*member, error) {
	plan, err := in.Plan()
	if err != nil {
		return nil, err
	}
	return l.run(consumer.Config{
		Brokers: b.Addrs(), Sarama: b.Config(), Group: topic, Topics: []string{topic}, Plan: plan,
		Logger: slog.New(slog.DiscardHandler), Hooks: hooks,
	}, f)
}

func (l *lab) run(conf consumer.Config, f handler.Func) (*member, error) {
	c, err := consumer.New(conf, f)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(l.ctx)
	m := &member{Consumer: c, began: time.Now(), cancel: cancel, done: make(chan struct{})}
	go func() { // ends with stop
		defer close(m.done)
		m.err = c.Run(ctx)
	}()
	return m, nil
}

// stop returns how long Run took to return.
func (m *member) stop() time.Duration {
	begin := time.Now()
	m.cancel()
	<-m.done
	return time.Since(begin)
}

var errLate = errors.New("did not happen in time")

// receive waits for what a row waits for.
func receive[T any](l *lab, c <-chan T) (T, error) {
	select {
	case v := <-c:
		return v, nil
	case <-time.After(patience):
		var none T
		return none, errLate
	case <-l.ctx.Done():
		var none T
		return none, context.Cause(l.ctx)
	}
}

// sleep ends early, with an error, when the program is to end.
func (l *lab) sleep(d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-l.ctx.Done():
		return context.Cause(l.ctx)
	}
}

// times is a channel of moments with room enough for a row.
func times() chan time.Time { return make(chan time.Time, 1<<16) }

// obedient tells its start and runs until its context ends or d is over.
func obedient(starts chan<- time.Time, d time.Duration) handler.Func {
	return func(ctx context.Context, _ *handler.Task) error {
		starts <- time.Now()
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// plain is a member of sarama's own group, with a handler written as its documentation shows.
type plain struct {
	group  sarama.ConsumerGroup
	cancel context.CancelFunc
	done   chan struct{}
}

func (l *lab) plain(b kafkatest.Broker, topic string, change func(*sarama.Config), h sarama.ConsumerGroupHandler) (*plain, error) {
	conf := b.Config()
	conf.Consumer.Offsets.Initial = sarama.OffsetOldest
	if change != nil {
		change(conf)
	}
	return l.plainIn(b, topic, topic, conf, h)
}

func (l *lab) plainIn(b kafkatest.Broker, name, topic string, conf *sarama.Config, h sarama.ConsumerGroupHandler) (*plain, error) {
	group, err := sarama.NewConsumerGroup(b.Addrs(), name, conf)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(l.ctx)
	p := &plain{group: group, cancel: cancel, done: make(chan struct{})}
	go func() { // ends with stop
		defer close(p.done)
		for ctx.Err() == nil {
			if err := group.Consume(ctx, []string{topic}, h); errors.Is(err, sarama.ErrClosedConsumerGroup) {
				return
			}
		}
	}()
	return p, nil
}

func (p *plain) stop() time.Duration {
	begin := time.Now()
	p.cancel()
	<-p.done
	_ = p.group.Close()
	return time.Since(begin)
}

// blocking is the handler of sarama's example: the work is done in the claim's loop.
type blocking struct {
	handle  func(m *sarama.ConsumerMessage)
	session chan sarama.ConsumerGroupSession // may be nil
	once    sync.Once
}

func (b *blocking) Setup(s sarama.ConsumerGroupSession) error {
	if b.session != nil {
		b.once.Do(func() { b.session <- s })
	}
	return nil
}
func (b *blocking) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (b *blocking) ConsumeClaim(s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
	for {
		select {
		case m, ok := <-c.Messages():
			if !ok {
				return nil
			}
			b.handle(m)
			s.MarkMessage(m, "")
		case <-s.Context().Done():
			return nil
		}
	}
}

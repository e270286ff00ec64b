package link

import (
	"context"
	"errors"

	"github.com/IBM/sarama"
)

// Commit sends an OffsetCommit over the commit connection and returns the broker's answer, whose per-partition errors the caller
// reads.
//
// Commit, FetchOffsets, Heartbeat, Describe and Settings share that connection, one request at a time, and never wait for a join. Each returns
// when ctx ends, whatever the network and the other callers do; the outcome of a request that was already sent is then unknown. An
// error means that no answer came: nothing is repeated, for only the caller knows whether the request is still right. After an error
// of the transport the connection is closed and the next call makes a new one, looking for the coordinator for at most
// [Options].Patience. Refusals (wrong credentials, missing rights) are returned at once; errors.Is finds the sarama.KError.
// After Close the error is sarama.ErrClosedClient.
func (l *Link) Commit(ctx context.Context, req *sarama.OffsetCommitRequest) (*sarama.OffsetCommitResponse, error) {
	return call(ctx, l, func(b *sarama.Broker) (*sarama.OffsetCommitResponse, error) { return b.CommitOffset(req) })
}

// FetchOffsets sends an OffsetFetch over the commit connection. See [Link.Commit].
func (l *Link) FetchOffsets(ctx context.Context, req *sarama.OffsetFetchRequest) (*sarama.OffsetFetchResponse, error) {
	return call(ctx, l, func(b *sarama.Broker) (*sarama.OffsetFetchResponse, error) { return b.FetchOffset(req) })
}

// Heartbeat sends a heartbeat of our own over the commit connection. See [Link.Commit].
func (l *Link) Heartbeat(ctx context.Context, req *sarama.HeartbeatRequest) (*sarama.HeartbeatResponse, error) {
	return call(ctx, l, func(b *sarama.Broker) (*sarama.HeartbeatResponse, error) { return b.Heartbeat(req) })
}

// Leave sends a LeaveGroup over the commit connection. See [Link.Commit].
func (l *Link) Leave(ctx context.Context, req *sarama.LeaveGroupRequest) (*sarama.LeaveGroupResponse, error) {
	return call(ctx, l, func(b *sarama.Broker) (*sarama.LeaveGroupResponse, error) { return b.LeaveGroup(req) })
}

// Describe asks for the state of groups over the commit connection. See [Link.Commit].
func (l *Link) Describe(ctx context.Context, req *sarama.DescribeGroupsRequest) (*sarama.DescribeGroupsResponse, error) {
	return call(ctx, l, func(b *sarama.Broker) (*sarama.DescribeGroupsResponse, error) { return b.DescribeGroups(req) })
}

// call is one exchange over the commit connection. It goes on for linger or the short deadline after ctx has ended.
func call[R any](ctx context.Context, l *Link, send func(*sarama.Broker) (R, error)) (R, error) {
	return value(ctx, l, func() (R, error) { return exchange(ctx, l.commit, send) })
}

// value runs f in a goroutine of its own, so that its caller can go when ctx ends: sarama's methods know no context, and wait for
// locks, dials and answers. f then goes on by itself.
func value[T any](ctx context.Context, l *Link, f func() (T, error)) (T, error) {
	result := make(chan answer[T], 1) // 1: the caller may have gone
	// Ends with f: with an exchange, or with sarama's own retries, which a cut of its connections ends.
	started := l.life.run(func() {
		v, err := f()
		result <- answer[T]{v, err}
	})
	if !started {
		return *new(T), sarama.ErrClosedClient
	}
	select {
	case a := <-result:
		return a.value, a.err
	case <-ctx.Done():
		return *new(T), ctx.Err()
	}
}

func exchange[R any](ctx context.Context, s *seat, send func(*sarama.Broker) (R, error)) (R, error) {
	if err := s.take(ctx); err != nil {
		return *new(R), err
	}
	defer s.give()
	ln, err := s.open(ctx)
	if err != nil {
		return *new(R), err
	}
	return transact(ctx, ln, send)
}

// transact sends one request over a line and waits for the answer. The caller holds the seat's turn.
func transact[R any](ctx context.Context, ln *line, send func(*sarama.Broker) (R, error)) (R, error) {
	settled := ln.watch(ctx)
	value, err := send(ln.broker)
	settled()
	if err != nil && !unsent(err) {
		ln.drop()
	}
	return value, err
}

// unsent reports an error that says nothing about the connection: the request could not be put on the wire as it is.
func unsent(err error) bool {
	var encoding sarama.PacketEncodingError
	return errors.As(err, &encoding) || errors.Is(err, sarama.ErrUnsupportedVersion)
}

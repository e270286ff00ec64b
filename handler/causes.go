package handler

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"

	"github.com/IBM/sarama"
)

// reasonOf reads why a session ended from the cause of its context (sarama sets it since v1.50, consumer_group_session.go). A cause
// that neither sarama nor the network can have set is the user's: it came with the context given to Consume, which a signal has
// ended, say (signal.NotifyContext gives one since Go 1.26).
func reasonOf(cause error) Reason {
	switch {
	case errors.Is(cause, ErrLost):
		return Lost
	case cause == context.Canceled, cause == context.DeadlineExceeded: //nolint:errorlint // a dial that timed out says that it is one
		return Stopping
	case isAny(cause, rebalances()):
		return Rebalance
	case isAny(cause, losses()), fromBroker(cause), fromNetwork(cause):
		return Lost
	default:
		return Stopping
	}
}

// rebalances are the ends of a session in order.
func rebalances() []error {
	return []error{
		sarama.ErrRebalanceInProgress, sarama.ErrSessionPartitionCountChanged, sarama.ErrSessionConsumeClaimExited, ErrRevoked,
	}
}

// losses are what sarama's heartbeats fail with beside the errors of broker and network, and a claim that overstayed: the
// partitions may be somebody else's already.
func losses() []error {
	return []error{
		sarama.ErrSessionHeartbeatFailed, sarama.ErrRebalanceTimedOut, sarama.ErrNotConnected, sarama.ErrOutOfBrokers,
		sarama.ErrBrokerNotFound, sarama.ErrClosedClient, sarama.ErrIncompleteResponse, sarama.ErrInsufficientData,
		io.EOF, io.ErrUnexpectedEOF,
	}
}

func isAny(err error, list []error) bool {
	return slices.ContainsFunc(list, func(e error) bool { return errors.Is(err, e) })
}

// fromBroker finds answers such as UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION and FENCED_INSTANCE_ID, and answers that are none.
func fromBroker(err error) bool {
	var answer sarama.KError
	var garbled sarama.PacketDecodingError
	return errors.As(err, &answer) || errors.As(err, &garbled)
}

func fromNetwork(err error) bool {
	var failed net.Error
	return errors.As(err, &failed)
}

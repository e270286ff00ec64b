package commit

import (
	"errors"

	"github.com/IBM/sarama"
)

// Verdict is what to do about the answer to one partition's commit.
type Verdict int

const (
	// Done: stored.
	Done Verdict = iota
	// Again: send again while the claim is ours. The coordinator moves, loads, or is out of reach, or the group is between two
	// generations; resending the same offset is harmless.
	Again
	// Lost: the membership is gone. Nothing more can be committed.
	Lost
	// Refused: the broker will not store it, and sending it again at once changes nothing. It is told, and sent with the next offset.
	Refused
	// Dropped: the claim was given up before the broker has said that it is stored. What came of it otherwise is not known.
	Dropped
)

// Judge reads the broker's answer, measured on Kafka 4.4 in each state of a group.
func Judge(err error) Verdict {
	var code sarama.KError
	if !errors.As(err, &code) {
		if err == nil {
			return Done
		}
		return Again // the outcome is unknown
	}
	switch code {
	case sarama.ErrNoError:
		return Done
	case sarama.ErrUnknownMemberId, sarama.ErrFencedInstancedId:
		return Lost
	case sarama.ErrOffsetMetadataTooLarge, sarama.ErrInvalidCommitOffsetSize, sarama.ErrInvalidGroupId:
		return Refused
	default:
		// Not coordinator, loading, rebalance in progress; illegal generation: a newer one may be on its way to us. An unknown topic may
		// be one that this broker has not heard of yet, and a right may come while the claim is held.
		return Again
	}
}

package kafkatest_test

import (
	"strings"
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// TestAnswers asks the coordinator of each broker what a group's members ask when things go wrong. Where the in-process broker answers
// otherwise than a real one, the row says how: the package comment has the list in words.
func TestAnswers(t *testing.T) {
	brokers := map[string]func(*testing.T) kafkatest.Broker{
		"fake":           func(t *testing.T) kafkatest.Broker { return kafkatest.Fake(t) },
		kafkatest.Newest: func(t *testing.T) kafkatest.Broker { return shared.Kafka(t, kafkatest.Newest) },
		kafkatest.Oldest: func(t *testing.T) kafkatest.Broker { return shared.Kafka(t, kafkatest.Oldest) },
	}
	for name, broker := range brokers {
		t.Run(name, func(t *testing.T) {
			b := broker(t)
			topic := kafkatest.Name(t)
			must(t, b.CreateTopic(topic, 1))
			for _, c := range answerCases() {
				t.Run(c.what, func(t *testing.T) {
					want := c.want
					if name == "fake" && c.fake != nil {
						want = *c.fake
					}
					if got := c.ask(t, newRaw(t, b, topic)); got != want {
						t.Errorf("answer %d (%v), want %d (%v)", got, got, want, want)
					}
				})
			}
		})
	}
}

type answerCase struct {
	what string
	want sarama.KError
	fake *sarama.KError // if another one
	ask  func(*testing.T, *raw) sarama.KError
}

func answerCases() []answerCase { return append(commitCases(), memberCases()...) }

func commitCases() []answerCase {
	accepted, illegal := sarama.ErrNoError, sarama.ErrIllegalGeneration
	return []answerCase{
		{"commit", accepted, nil, func(t *testing.T, r *raw) sarama.KError { return r.commit(t, r.stable(t, "")) }},
		{"commit of an older generation", illegal, nil, func(t *testing.T, r *raw) sarama.KError {
			m := r.stable(t, "")
			m.generation--
			return r.commit(t, m)
		}},
		{"commit of a stranger", sarama.ErrUnknownMemberId, nil, func(t *testing.T, r *raw) sarama.KError {
			m := r.stable(t, "")
			m.id = "stranger"
			return r.commit(t, m)
		}},
		{"commit to a group that is not", illegal, nil, func(t *testing.T, r *raw) sarama.KError {
			return r.commit(t, &rawMember{id: "stranger", generation: 1})
		}},
		{"commit to a group that has ended", sarama.ErrUnknownMemberId, &illegal, func(t *testing.T, r *raw) sarama.KError {
			m := r.stable(t, "")
			r.leave(t, m)
			return r.commit(t, m)
		}},
		{"commit of a partition that is not", sarama.ErrUnknownTopicOrPartition, nil, func(t *testing.T, r *raw) sarama.KError {
			r.topic = "no-such-topic"
			return r.commit(t, r.stable(t, ""))
		}},
		{"commit with 4,096 bytes", accepted, nil, func(t *testing.T, r *raw) sarama.KError {
			r.metadata = strings.Repeat("m", 4096)
			return r.commit(t, r.stable(t, ""))
		}},
		{"commit with 4,097 bytes", sarama.ErrOffsetMetadataTooLarge, &accepted, func(t *testing.T, r *raw) sarama.KError {
			r.metadata = strings.Repeat("m", 4097)
			return r.commit(t, r.stable(t, ""))
		}},
		{"commit while a join is awaited", accepted, nil, func(t *testing.T, r *raw) sarama.KError {
			m := r.stable(t, "")
			defer r.leave(t, m) // or the second one waits for the end of the session
			r.joinBehind(t, r.heartbeatUntil(t, m, sarama.ErrRebalanceInProgress))
			return r.commit(t, m)
		}},
		{"commit while a sync is awaited", sarama.ErrRebalanceInProgress, nil, func(t *testing.T, r *raw) sarama.KError {
			m := &rawMember{}
			must(t, kerror(r.join(t, m, "")))
			return r.commit(t, m)
		}},
	}
}

func memberCases() []answerCase {
	return []answerCase{
		{"heartbeat of an older generation", sarama.ErrIllegalGeneration, nil, func(t *testing.T, r *raw) sarama.KError {
			m := r.stable(t, "")
			m.generation--
			return r.heartbeat(t, m)
		}},
		{"heartbeat after leaving", sarama.ErrUnknownMemberId, nil, func(t *testing.T, r *raw) sarama.KError {
			m := r.stable(t, "")
			r.leave(t, m)
			return r.heartbeat(t, m)
		}},
		{"heartbeat of a static member that was replaced", sarama.ErrFencedInstancedId, nil, func(t *testing.T, r *raw) sarama.KError {
			m := r.stable(t, "instance")
			must(t, kerror(r.join(t, &rawMember{}, "instance")))
			return r.heartbeat(t, m)
		}},
		{"join with too short a session", sarama.ErrInvalidSessionTimeout, nil, func(t *testing.T, r *raw) sarama.KError {
			r.session = 50
			return r.join(t, &rawMember{}, "")
		}},
		{"join with another protocol", sarama.ErrInconsistentGroupProtocol, nil, func(t *testing.T, r *raw) sarama.KError {
			r.stable(t, "")
			r.protocol = "another"
			return r.join(t, &rawMember{}, "")
		}},
	}
}

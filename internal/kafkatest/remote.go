package kafkatest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/IBM/sarama"
)

// helperDeadline bounds a helper's retries: longer than an election or a coordinator's move takes on three nodes and a busy machine.
const helperDeadline = time.Minute

// Remote is a [Broker] that somebody else started: Close leaves it alone. The other brokers build on it.
type Remote struct {
	addrs  func() []string
	reach  func() []string // where the helpers connect
	config func() *sarama.Config
}

// Connect returns the helpers over a cluster at addrs. config returns a fresh configuration at each call; nil means
// sarama's defaults.
func Connect(addrs []string, config func() *sarama.Config) *Remote {
	if config == nil {
		config = sarama.NewConfig
	}
	at := func() []string { return addrs }
	return &Remote{addrs: at, reach: at, config: config}
}

// Addrs implements [Broker].
func (r *Remote) Addrs() []string { return r.addrs() }

// Config implements [Broker].
func (r *Remote) Config() *sarama.Config { return r.config() }

// Close does nothing: the cluster is not ours.
func (r *Remote) Close() error { return nil }

// helperConfig fails fast, so that the retry loop and not sarama decides how long a helper waits.
func (r *Remote) helperConfig() *sarama.Config {
	cfg := r.Config()
	cfg.Net.DialTimeout, cfg.Net.ReadTimeout, cfg.Net.WriteTimeout = 2*time.Second, 3*time.Second, 3*time.Second
	cfg.Metadata.Retry.Max, cfg.Metadata.Retry.Backoff = 1, 50*time.Millisecond
	cfg.Metadata.RefreshFrequency = 0
	cfg.Metadata.AllowAutoTopicCreation = false
	cfg.Admin.Retry.Max, cfg.Admin.Timeout = 0, 3*time.Second
	cfg.Producer.Return.Successes = true
	cfg.Producer.Partitioner = sarama.NewManualPartitioner
	return cfg
}

// withClient runs f with a client of its own until it succeeds, fails for good, or the deadline passes.
func (r *Remote) withClient(what string, f func(sarama.Client) error) error {
	for deadline := time.Now().Add(helperDeadline); ; time.Sleep(100 * time.Millisecond) {
		err := r.once(f)
		if err == nil {
			return nil
		}
		if !passing(err) || time.Now().After(deadline) {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}

func (r *Remote) once(f func(sarama.Client) error) (err error) {
	client, err := sarama.NewClient(r.reach(), r.helperConfig())
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := client.Close(); err == nil && !errors.Is(closeErr, sarama.ErrClosedClient) {
			err = closeErr
		}
	}()
	return f(client)
}

// withAdmin is withClient for the requests that sarama offers on its admin client. Closing the admin closes the client.
func (r *Remote) withAdmin(what string, f func(sarama.ClusterAdmin) error) error {
	return r.withClient(what, func(client sarama.Client) error {
		admin, err := sarama.NewClusterAdminFromClient(client)
		if err != nil {
			return err
		}
		return f(admin)
	})
}

// afterRetry takes an error for success if only an earlier try, whose answer was lost, can have caused it.
func afterRetry(done error, f func(sarama.ClusterAdmin) error) func(sarama.ClusterAdmin) error {
	first := true
	return func(a sarama.ClusterAdmin) error {
		err := f(a)
		if !first && errors.Is(err, done) {
			return nil
		}
		first = false
		return err
	}
}

// errNotYet is a state that the broker is still on the way to.
var errNotYet = errors.New("not there yet")

// passing says whether an error goes away by itself on a healthy or a recovering cluster.
func passing(err error) bool {
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	for _, target := range []error{
		errNotYet, io.EOF, io.ErrUnexpectedEOF, sarama.ErrOutOfBrokers, sarama.ErrBrokerNotFound, sarama.ErrNotConnected, sarama.ErrClosedClient,
		sarama.ErrControllerNotAvailable, sarama.ErrConsumerCoordinatorNotAvailable, sarama.ErrNotCoordinatorForConsumer, sarama.ErrOffsetsLoadInProgress,
		sarama.ErrNotController, sarama.ErrLeaderNotAvailable, sarama.ErrNotLeaderForPartition, sarama.ErrBrokerNotAvailable,
		sarama.ErrReplicaNotAvailable, sarama.ErrNotEnoughReplicas, sarama.ErrNotEnoughReplicasAfterAppend, sarama.ErrRequestTimedOut,
		sarama.ErrNetworkException, sarama.ErrInvalidReplicationFactor, sarama.ErrOffsetNotAvailable,
		sarama.ErrPreferredLeaderNotAvailable, sarama.ErrEligibleLeadersNotAvailable,
	} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

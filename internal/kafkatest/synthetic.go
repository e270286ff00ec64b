package kafkatest

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
)

// Synthetic is a topic that costs its broker next to nothing: every fetch is answered with copies of one batch that was made
// beforehand, numbered on from the offset that was asked for. It starts at offset 0 and has no end in practice
// ([Broker.EndOffset] says 1<<62): a bench stops when it has counted enough.
type Synthetic struct {
	Topic      string
	Partitions int32
	// RecordBytes is the size of each value. Default: 100. Keys are null.
	RecordBytes int
	// BatchRecords is how many messages a batch has. Default: as many as make 1 MiB.
	BatchRecords int
}

// Fake starts an in-process broker with the topic for the time of the test or benchmark.
func (s Synthetic) Fake(tb testing.TB, opts ...kfake.Opt) *FakeBroker {
	tb.Helper()
	return Fake(tb, append(s.opts(), opts...)...)
}

// Start is [Synthetic.Fake] for programs. The caller closes the broker.
func (s Synthetic) Start(opts ...kfake.Opt) (*FakeBroker, error) {
	return StartFake(append(s.opts(), opts...)...)
}

func (s Synthetic) opts() []kfake.Opt {
	batch := kfake.SyntheticBatch{RecordBytes: s.RecordBytes, Records: s.BatchRecords}
	return []kfake.Opt{kfake.SyntheticFetch(batch), kfake.SeedTopics(s.Partitions, s.Topic), kfake.BlackholeProduce()}
}

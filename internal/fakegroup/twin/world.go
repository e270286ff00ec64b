package twin

import (
	"embed"
	"slices"
	"strings"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/fakegroup"
)

// World is a Kafka with what a scenario needs of it. Its methods fail the test when they cannot do what is asked.
type World interface {
	CreateTopic(topic string, partitions int32)
	AddPartitions(topic string, total int32)
	// Produce appends n messages to a partition.
	Produce(topic string, partition int32, n int)
	// Trim deletes the messages before offset.
	Trim(topic string, partition int32, offset int64)
	// Commit sets the offset of a group without members.
	Commit(group, topic string, partition int32, offset int64)
	Committed(group, topic string, partition int32) (offset int64, metadata string)
	// Members counts a group's members.
	Members(group string) int
	// Group makes a member.
	Group(group string, cfg *sarama.Config) (sarama.ConsumerGroup, error)
}

// Scenario is one story.
type Scenario struct {
	// Name is also that of its recording.
	Name string
	run  func(s *stage)
}

// Run plays the scenario with a topic and a group of the given name, new in this world, and returns its events.
func (sc Scenario) Run(w World, name string) []string {
	s := &stage{World: w, name: name}
	sc.run(s)
	return s.events()
}

// Scenarios lists all.
func Scenarios() []Scenario {
	return slices.Concat(rebalances(), overstays(), claims(), commits(), statics(), refusals())
}

//go:embed testdata
var recordings embed.FS

// Recorded returns what the scenario looked like on Apache Kafka, nil when there is no recording.
func (sc Scenario) Recorded() []string {
	text, err := recordings.ReadFile("testdata/" + sc.Name + ".txt")
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// inMemory is a fakegroup cluster as a World.
type inMemory struct{ *fakegroup.Cluster }

// InMemory returns a new cluster in memory. Inside a synctest bubble its scenarios take no time.
func InMemory() World { return inMemory{fakegroup.NewCluster()} }

func (m inMemory) CreateTopic(topic string, partitions int32) {
	m.Cluster.CreateTopic(topic, int(partitions))
}

func (m inMemory) AddPartitions(topic string, total int32) {
	m.Cluster.AddPartitions(topic, int(total))
}
func (m inMemory) Members(group string) int { return len(m.Cluster.Members(group)) }

func (m inMemory) Produce(topic string, partition int32, n int) {
	for range n {
		m.Cluster.Produce(topic, partition, nil, []byte("v"))
	}
}

func (m inMemory) Commit(group, topic string, partition int32, offset int64) {
	if err := m.Cluster.Commit(group, "", sarama.GroupGenerationUndefined, fakegroup.Offset{Topic: topic, Partition: partition, Offset: offset}); err != sarama.ErrNoError {
		panic(err)
	}
}

func (m inMemory) Group(group string, cfg *sarama.Config) (sarama.ConsumerGroup, error) {
	return fakegroup.NewGroup(m.Cluster, group, cfg)
}

package kafkatest

import (
	"errors"
	"os"
	"strings"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest/child"
)

// JavaConsumer is Kafka's own console consumer as a member of a group. It ends with this process at the latest.
type JavaConsumer struct {
	child *child.Process
	log   string
}

// JavaConsumer starts a member of a group that reads a topic, with properties of a Java consumer, each "name=value". The caller ends it.
func (n *Node) JavaConsumer(group, topic string, properties ...string) (*JavaConsumer, error) {
	args := []string{
		"org.apache.kafka.tools.consumer.ConsoleConsumer", "--bootstrap-server", strings.Join(n.Addrs(), ","), "--topic", topic, "--group", group, "--from-beginning",
	}
	for _, p := range properties {
		args = append(args, "--consumer-property", p)
	}
	cmd, err := n.java(args...)
	if err != nil {
		return nil, err
	}
	log, err := os.CreateTemp(n.dir, "consumer-*.log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	p, err := child.Start(cmd, "")
	return &JavaConsumer{child: p, log: log.Name()}, err
}

// Stop lets it leave its group in order.
func (c *JavaConsumer) Stop() error {
	err := c.child.Terminate()
	<-c.child.Done()
	return errors.Join(err, c.child.Kill())
}

// Ended says that it has ended by itself, as after an error.
func (c *JavaConsumer) Ended() bool { return c.child.Ended() }

// Output is what it has printed so far: the values of its messages, and its log.
func (c *JavaConsumer) Output() string {
	data, err := os.ReadFile(c.log)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

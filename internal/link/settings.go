package link

import (
	"context"
	"strconv"

	"github.com/IBM/sarama"
)

// Settings asks the coordinator for settings of its own, and returns those of names that it tells: none where the user may not read
// them. It goes over the commit connection, see [Link.Commit]. sarama's ClusterAdmin would open a broker of sarama's client with the
// dialer of the user, and [Link.Cut] could not end that connection.
func (l *Link) Settings(ctx context.Context, names ...string) (map[string]string, error) {
	resp, err := call(ctx, l, func(b *sarama.Broker) (*sarama.DescribeConfigsResponse, error) {
		return b.DescribeConfigs(l.describe(names))
	})
	if err != nil {
		return nil, err
	}
	told := make(map[string]string)
	for _, r := range resp.Resources {
		for _, e := range r.Configs {
			told[e.Name] = e.Value
		}
	}
	return told, nil
}

// describe asks for the settings of the coordinator: only the broker itself tells its own.
func (l *Link) describe(names []string) *sarama.DescribeConfigsRequest {
	return &sarama.DescribeConfigsRequest{
		Version: describeVersion(l.conf.Version),
		Resources: []*sarama.ConfigResource{{
			Type: sarama.BrokerResource, Name: strconv.Itoa(int(l.finder.last().id)), ConfigNames: names,
		}},
	}
}

// describeVersion is the version that sarama's own ClusterAdmin takes.
func describeVersion(v sarama.KafkaVersion) int16 {
	switch {
	case v.IsAtLeast(sarama.V2_8_0_0):
		return 4
	case v.IsAtLeast(sarama.V2_6_0_0):
		return 3
	case v.IsAtLeast(sarama.V2_0_0_0):
		return 2
	case v.IsAtLeast(sarama.V1_1_0_0):
		return 1
	}
	return 0
}

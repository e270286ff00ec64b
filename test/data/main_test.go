package data_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// shared has the limits that a broker has by default, all doors, and a client that has to authenticate again in every task.
var shared = kafkatest.Shared{Options: kafkatest.Options{
	Secure: true, ReauthAfter: reauthAfter,
	Properties: map[string]string{"group.min.session.timeout.ms": "6000"},
}}

func TestMain(m *testing.M) {
	if text := os.Getenv(orderEnv); text != "" {
		if err := obey(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	// These tests wait for brokers, and hardly compute: more of them fit on two cores than two.
	if flag.Lookup("test.parallel").Value.String() == flag.Lookup("test.parallel").DefValue {
		_ = flag.Set("test.parallel", "8")
	}
	shared.Run(m)
}

// everywhere is for what the in-process broker does as a real one.
func everywhere() []kit.Place { return []kit.Place{kit.Fake, kit.Kafka(&shared)} }

// onKafka runs f under both protocols on the real node.
func onKafka(t *testing.T, f func(t *testing.T, s kit.Setting)) {
	t.Helper()
	kit.Each(t, f, kit.Kafka(&shared))
}

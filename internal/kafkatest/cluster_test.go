package kafkatest_test

import "testing"

func TestClusterConforms(t *testing.T) { conform(t, shared.Cluster(t)) }

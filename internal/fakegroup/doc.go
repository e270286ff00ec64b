// Package fakegroup is a Kafka consumer group in memory: a cluster with topics, a group coordinator, and a [sarama.ConsumerGroup] over them.
//
// It exists for virtual time. Real sarama waits on mutexes and sockets and so cannot run inside a testing/synctest bubble; this
// package waits on channels and timers only, and a six-hour task costs microseconds. It works in real time as well.
//
// # What is true to sarama
//
// The rules are those of sarama v1.61.1 and of Apache Kafka's classic group coordinator; the comment at each rule names its
// source. In short:
//
//   - join, sync, heartbeat and leave use sarama's own request and response types, so that balance strategies see the metadata
//     bytes that they would see on the wire;
//   - eager: a rebalance cancels the session, then closes the claims; what is buffered is still delivered;
//   - cooperative: the session lives, a revoked claim is told by its Messages channel alone, and added claims wait for revoked ones;
//   - marks, resets, commits, the timed commit and the final flush follow sarama's offset manager.
//
// # What is simpler
//
// A request takes no time unless the test cuts or delays it. There is one broker and one fetch loop a claim: Consumer.MaxProcessingTime,
// leaders, replicas and the sharing of a connection are not modelled. Names of missing topics fail at once, without metadata retries.
//
// # Rules for tests
//
// Create the [Cluster] inside the bubble that uses it. All types are safe for concurrent use.
package fakegroup

// Package twin holds scenarios of a sarama consumer group that run unchanged on fakegroup and on a broker, and what each of them
// looked like with sarama v1.61.1 on Apache Kafka 4.4.0: the recordings in testdata.
//
// A scenario returns its events member by member: what the handler, the balance strategy and the caller of Consume saw, in order.
// Errors come at the end and once each, since sarama reports them from goroutines of its own. Partitions are counted, not named, since
// strategies choose among equals at random.
//
// The test of this package runs every scenario on fakegroup in virtual time and compares it with the recording. A test with
// a broker implements [World] over sarama.NewConsumerGroup and compares likewise: that is what keeps the recordings true.
package twin

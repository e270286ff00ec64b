// Package kafkatest gives tests, examples and benches a Kafka: in-process, one real node, or three.
package kafkatest

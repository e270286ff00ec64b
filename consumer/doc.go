// Package consumer is one member of a Kafka consumer group whose messages take seconds to hours to handle.
package consumer

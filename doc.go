// Package evenkeel has no code. The library is in three packages beside it:
//
//   - [github.com/evenkeel-go/evenkeel/config] derives timeouts and buffers from how long a task takes
//   - [github.com/evenkeel-go/evenkeel/handler] is what you write, and what runs it over a sarama.ConsumerGroup of your own
//   - [github.com/evenkeel-go/evenkeel/consumer] is the whole member of a consumer group; begin here
//
// For unit tests of your handler, without a broker, there is [github.com/evenkeel-go/evenkeel/handler/handlertest].
package evenkeel

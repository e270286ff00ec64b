// Package handlertest drives a [handler.Handler] without a broker, for the unit tests of those who write one.
//
// A [Run] is one member of a group. [Run.Deliver] appends messages to partitions, which are claimed at their first message; the
// handler runs on them in the real engine of package handler, with its order, retries, cancellation and commits.
//
//	run := handlertest.New(t, work, handlertest.Options{})
//	run.Deliver(&sarama.ConsumerMessage{Topic: "report-requests", Value: []byte("q3")})
//	run.WantCommitted("report-requests", 0, 1)
//
// # Rebalances
//
// [Run.Revoke] takes every partition away in the way that sarama does it under each protocol: [Eager] ends the session, [Cooperative]
// closes the claims in a session that lives on, [Lost] is a membership that the broker has ended. [Run.Assign] gives a partition
// back; what was not committed is then delivered again, as a broker would. A handler should do the same under both protocols:
//
//	for _, how := range []handlertest.Revocation{handlertest.Eager, handlertest.Cooperative} { … }
//
// # What a test says without being asked
//
// [Run.Stop], and the end of the test, fail it when a task still runs a second after the plan's grace: such a handler would hold its
// slot and its partition in service. Options.AllowStrays is for tests that are about that.
//
// # Virtual time
//
// Inside a testing/synctest bubble a task of six hours, a retry pause or a grace takes no time. Nothing has to be switched on: make the
// Run inside the bubble. Outside one, everything takes as long as it does in service.
//
// # Partition consumers of sarama/mocks
//
// [Run.Consume] takes messages from a sarama.PartitionConsumer, such as one of a mocks.Consumer, in place of Deliver.
package handlertest

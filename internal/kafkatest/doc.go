// Package kafkatest gives tests, examples and benches a Kafka behind one interface, [Broker]: in-process ([Fake]), one real node
// ([Kafka], or [Shared] by the tests of a binary), three real nodes ([Cluster]), or one that runs elsewhere ([Connect]).
// Nothing that it starts outlives the process, whatever ends it.
//
// # Real nodes
//
// They need Java 17, Maven and a Unix system; Maven fetches the jars once into a cache folder. [EnvMode] says what tests do
// without them, [EnvCache] where the cache is. Every address is a port of 127.0.0.1. A node takes some 3 s to start,
// three take some 5 s and 1 GB; a node that is stopped, killed or paused comes back with its data on the same ports.
// [Options.Links] gives clients ways of their own to the nodes, which a test can break; [Options.Secure] adds TLS and SASL.
//
// A cluster of 4.x answers an OffsetFetch, for up to a second after its coordinator was lost, without the last commits and without an
// error: the new coordinator reads up to the high watermark, and that has yet to catch up. 3.9 does not.
//
// # What the in-process broker cannot do
//
// It passes the same conformance test as the real ones: sarama groups under eager and cooperative-sticky, static members,
// rebalance and session timeouts, fencing, commits with metadata and leader epoch, trimming, added partitions, deleted topics,
// several nodes with moves of leaders and coordinators, SASL, TLS, re-authentication, faults in any answer. What it does
// otherwise, as of the version that go.mod has:
//
//   - It takes commit metadata of any size. A real one refuses more than 4,096 bytes.
//   - A commit of a member that has left an empty group is refused with ILLEGAL_GENERATION, not UNKNOWN_MEMBER_ID.
//   - OffsetFetch for a group that does not exist is refused with GROUP_ID_NOT_FOUND. A real one says that nothing is committed.
//   - A member that leaves while it waits in a SyncGroup is counted as one that joins less, for good: later joins are answered only
//     at the rebalance timeout, which each further join begins anew.
//   - No delay of a group's first rebalance: members that start together see a rebalance each.
//   - No throttling, no rack-aware replicas, no log truncation, no time that a request takes: what races on a real broker may
//     never race here.
//   - SASL has no OAUTHBEARER.
//   - A node that hangs is a control function or a [LinkedFake], not a process that can be paused.
package kafkatest

// Package link is the connection of one group member to its cluster: a sarama.Client with two coordinator connections of its own.
//
// sarama sends heartbeats, joins and commits on the connection that also long-polls fetches, one request at a time. A commit then
// waits for a fetch, and everything waits for a join. A [Link] takes the group's traffic off that connection:
//
//	                     +--------------------- Link -----------------------+
//	ConsumerGroup -----> | Coordinator ----> group seat  --- connection --->| coordinator   join, sync, heartbeat, sarama's own commits
//	consumer/ ---------> | Commit, ... ----> commit seat --- connection --->| coordinator   our commits, fetched offsets, heartbeats
//	                     | RefreshCoordinator, RefreshMetadata              |
//	                     |   `-------------> ask: commit seat, then a      >| any broker    lookups, first answer wins
//	                     |                   fresh connection to each       |
//	claims, metadata --> | all else -------> sarama's own client ---------->| every leader  fetches, offsets by time
//	                     +--------------------------------------------------+
//
// # Files
//
//	link.go      the Link, Cut, Close
//	new.go       New, Over
//	options.go   their options
//	canonical.go names for Kerberos
//	client.go    the sarama.Client methods that behave otherwise than sarama's
//	bind.go      the context that sarama's own work ends with
//	call.go      Commit, FetchOffsets, Heartbeat, Describe
//	settings.go  what the coordinator's settings are
//	seat.go      one connection to the coordinator, replaced when it breaks or the coordinator moves
//	line.go      one connection to one broker, opened once
//	conn.go      the net.Conn below it: deadlines by request, a timeout ends the connection
//	sync.go      what a SyncGroup says
//	lookup.go    who is the coordinator
//	ask.go       one question to whichever broker answers first
//	tls.go       TLS below sarama
//	network.go   dials for all, remembers the connections of sarama's own client
//	metadata.go  refresh that a missing topic does not stop
//	view.go      what a broker said about topics, and whether sarama's client knows it already
//	topics.go    which topics are missing
//	pace.go      growing pauses between tries, and what is refused rather than failed
//	life.go      the goroutines of a Link
//
// # Deadlines
//
// A connection gets JoinGroup and SyncGroup the long deadline ([Options].Long) and every other request the short one. It reads the
// API key of each request off the wire, for sarama gives no other sign of what it sends. A deadline that is missed closes the
// connection: sarama would keep it, although nothing reads it any more. [Link.Joining] tells from the same keys whether a join is out,
// [Link.LastSync] when a sync was sent and answered, and of which round it is, and [Link.Left] whether a leave was answered.
//
// # Metadata
//
// A refresh first asks one broker, over the commit connection, and hands on to sarama's client only topics that exist and of which the
// client does not know everything yet. A missing topic then costs a round trip instead of 5 s of retries and a failed join, and a
// refresh on the way of a join costs milliseconds instead of a long poll of every leader (measured with idle claims and a
// Consumer.MaxWaitTime of 250 ms: 1 ms instead of 250 with one node, 6 instead of 500 with three).
//
// # Cancellation
//
// [Link.Bind] gives the context that sarama's work ends with. When it ends, the raw socket of the group connection is closed:
// Broker.Close would wait for the very answer that is to be given up. Commit, FetchOffsets, Heartbeat, Describe and Settings return when their
// own context ends, whatever the network does.
//
// # Locks
//
// Each lock guards fields, never input or output: no lock is held over a call into sarama, a channel or a callback.
//
//	Link.mu     the bound context
//	seat.mu     the line and the attempt under way
//	finder.mu   the coordinator's address and the search under way
//	network.mu  the connections of sarama's own client
//	topics.mu   which topics are missing
//	life.mu     whether goroutines may still start
//
// They are taken in that order, and only Link.mu is held while another one (seat.mu) is taken. sarama's own Broker lock is held for a
// whole request: Broker.Close and Broker.Connected are called on a line whose socket is closed or not yet handed out, never else.
//
// # Goroutines
//
// All are started through life and end within the time of one request after [Link.Close], which waits for them for at most 2 s. A
// dialer of the user's that knows no context is the exception: its goroutine ends when the dialer returns.
package link

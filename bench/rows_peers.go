package main

import "github.com/evenkeel-go/evenkeel/bench/peers"

// aboutPeers is what the rows with all peers have in common.
const aboutPeers = ". Each side alone on the broker in a process of its own, in turns, medians of 3 rounds; baselines: the same of the peers"

// peerRows compare with all peers that take part. Few have aims: the table says who is better.
var peerRows = []row{
	{
		name: "throughput_partition", peers: true, measure: throughput(peers.ByPartition),
		what: "tasks a second by partition, from the first task's start to the last one's end, on 10 partitions that were filled before, with tasks of " +
			"0 (2,000,000 of them, or those of 3 s, in which a Java machine is still warming up), 1, 20 and 1,000 ms; ideal: 10 / task time" + aboutPeers,
	},
	{
		name: "throughput_key", peers: true, measure: throughput(peers.ByKey),
		what: "the same by key with 100 slots (ideal: 100 / task time); of the peers only the Parallel Consumer offers that order" + aboutPeers,
	},
	{
		name: "throughput_none", peers: true, measure: throughput(peers.None),
		what: "the same without order, 100 slots; of the peers only the Parallel Consumer commits nothing beyond what has not ended" + aboutPeers,
	},
	{
		name: "visible", peers: true, measure: visible,
		what: "from a handler's return to the moment in which another connection, which asks each millisecond, reads the commit; 40 tasks of 100 ms on " +
			"one partition" + aboutPeers,
	},
	{
		name: "traffic", peers: true, measure: traffic,
		what: "requests a second of a member with tasks of 20 ms by partition on 10 partitions, for 4 s, 2 s after its first task: OffsetCommit, and all; aim: at " +
			"most 10 commits a second. Fewer are cheaper and seen later: see visible" + aboutPeers,
	},
	{
		name: "planned", peers: true, measure: planned,
		what: "8 partitions with a backlog, tasks of 0.5 s on the first to 4 s on the last; a second and a third member join and leave again in order, 4 and 7 s " +
			"apart, with each side's default session timeout. newcomer: from just before it joins to its first task; takeover: from the request to stop to " +
			"the first task of another member on the last of its partitions; stall: the longest time for which a partition had no task between two of one " +
			"member; idle: the sum of the times in which a partition had none; wasted: time in tasks that were for nothing; repeats: starts of a message " +
			"beyond its first; aim: nothing wasted, no repeats. A side whose newcomers get nothing has neither, and no idle time" + aboutPeers,
	},
	{
		name: "waste_planned", peers: true, measure: wastePlanned,
		what: "8 partitions with a backlog, tasks of 2 s on the first to 30 s on the last; a member works, and ten times, 8 s apart, another one joins or leaves in " +
			"order: two join, one leaves, one joins, two leave, two join, two leave. Who can say so is told that a member that leaves may wait for its tasks for a " +
			"minute. waste_planned: time in tasks that were for nothing; repeats: starts of a message beyond its first; waste_planned_idle: the sum " +
			"of the times in which a partition with a backlog had no task; aim: nothing wasted, and no more idle time than any other" + aboutPeers,
	},
	{
		name: "unplanned", peers: true, measure: unplanned,
		what: "the same topic; one of two members is killed (SIGKILL) and the other one watched for 12 s, all sides with a session timeout of 6 s (by default it " +
			"is 10 s in sarama, 30 s in kafka-go, 45 s in the others); takeover: from the kill to the other's first task on the last of its partitions; the " +
			"rest from the kill on. Without the racing handler under the cooperative protocol, whose second member may get nothing while the first one works" +
			aboutPeers,
	},
	{
		name: "memory", peers: true, measure: memory,
		what: "live heap after garbage collection, and resident memory before it, 4 to 6 s after the start of the first task of 30 s, by partition, 12 partitions; " +
			"backlog: 1,000,000 messages of 100 bytes; large: 600 messages of 1 MB; three times in each round" + aboutPeers,
	},
	{
		name: "claims", peers: true, measure: claims,
		what: "what 10, 100 and 1,000 partitions cost that have one message each: begin: from just before joining to the start of the last partition's task; " +
			"then, at rest, processor time in 2 s, goroutines (of Java: threads) and resident memory" + aboutPeers,
	},
	{
		name: "members", peers: true, measure: crowd,
		what: "a member more joins a group of 1, 10 and 50 on 100 partitions with tasks of 200 ms. newcomer: from just before it joins to its first task; stall: the " +
			"longest time for which a partition had no task in the 7 s after that; idle: the sum of these times. Without the racing handlers and watermill, " +
			"whose groups are sarama's as well" + aboutPeers,
	},
}

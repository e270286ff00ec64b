// Package consumer is one member of a Kafka consumer group whose messages take seconds to hours to handle.
//
//	plan, err := config.For(5 * time.Minute)
//	c, err := consumer.New(consumer.Config{
//		Brokers: []string{"localhost:9092"}, Group: "reports", Topics: []string{"report-requests"}, Plan: plan,
//	}, handler.Func(makeReport))
//	err = c.Run(ctx) // until ctx ends: drains, commits, leaves the group
//
// It drives a sarama consumer group with package handler, over two connections to the group's coordinator that are its own:
//
//	                         .--- group connection:  join, sync, heartbeat, leave  (sarama's group work)
//	consumer -- link --------+--- commit connection: commits, offset look-ups, heartbeats of the lease
//	                         '--- sarama's own connections: metadata, fetches
//
//	handler: claim loops --offsets--> internal/commit --> commit connection
//	internal/lease <------------------------------------- heartbeats' answers
//	      '-- over: all tasks cancelled, session ended, join again
//
// sarama alone sends all of it over the connection that also waits for fetches, one request at a time: a commit takes a second there,
// and during a rebalance it fails.
//
// # What it promises
//
// The numbers are those of the whole module. G5 to G9 hold as in package handler; these become stronger here, or hold only here.
//
//   - G1 Nothing lost. An offset is committed only after its task has succeeded, counts as committed when the broker has said so, and is
//     sent again for as long as the partition is ours until it has. The start of a partition without a commit is committed before
//     its first task ends.
//   - G2 Committed never passes the gap-free prefix of finished messages. What finished beyond it is recorded in the commit's metadata, and
//     is not run again by the next owner of the partition if that is a member of this package too; others replay it. After a crash, what
//     had not been answered yet runs again.
//   - G3 A rebalance waits for no task beyond the grace, also not for one of a member that stops and has given it more time (StopGrace): it
//     hears of the rebalance by its own heartbeats, and leaves no more than the grace from then on. A join that other members keep waiting
//     is not cut off by a read timeout.
//   - G4 A task whose partition stays with, or comes back to, this member is not started again: it goes on through rebalances, lost
//     heartbeats, a claim that failed, a leader that stalls or dies in the middle of a round, and a coordinator that moves, restarts or
//     dies, as long as a new one is there before the lease is over. Its result is committed by the next claim, and so is one that had not
//     been answered when the session ended. It needs one balance strategy alone: where a second one is offered, a task goes on through a
//     cooperative rebalance in which its claim stays, and through nothing else. And where a member has missed an assignment, as when the group
//     changes again before it has heard the first one, its tasks go on if it finds that nobody else has had the partition, which can be told
//     where all members are of this package and our own strategy is offered; otherwise they are run again.
//   - G5 A commit carries the generation of the latest assignment that was received while the claim is held, also where its task ends
//     between two claims, and nothing is sent for a partition once it has gone: a late result never overwrites the next owner's progress.
//   - G10 Stopping is bounded: the plan's StopGrace (or what G3 leaves of it), with cancellation at its end, or at its start where tasks
//     are too long to be waited for (Plan.StopCancelFirst; set config.Input.StopGrace to let them go on), then the last commit and a
//     LeaveGroup, so that the next owner starts at once and not after the session timeout. It takes at most 2 s beyond the grace, and at
//     most 6 s when no broker can be reached. What has finished and cannot be committed by then is named in the log. A static member does
//     not leave (KIP-345): its partitions wait for its restart, for the session timeout at most. A member that waits for its tasks
//     drains: it stays a member, starts nothing more, and others have at once what is idle. A static one leaves too then.
//   - G11 A finished task is durable soon: its commit is sent at once when tasks are long, and at most 300 ms later when they are
//     short, for then a member asks its coordinator ten times a second at most.
//     While the group completes a round nobody can commit, which takes milliseconds as a rule, and at most the rebalance timeout when
//     the leader dies in the middle.
//   - G12 Every task runs under a lease. Heartbeats of our own go out at the heartbeat interval; when none was answered well for
//     config.Plan.Lease (the shorter of session and rebalance timeout, less 5 s), or when the coordinator says that the member is
//     none, every task is cancelled with a [LeaseError], before the broker can have given its partition away. The bound does not grow
//     with the duration of the tasks. As long as the leader owes the group its assignments, those heartbeats count before which the
//     coordinator has said so. Where by the wall clock the lease is over, which a suspended machine may show, the next heartbeat decides, and
//     has to be answered within a heartbeat interval and 5 s. Three exceptions: a task that ignores its context runs on, and is counted; a
//     member whose join or sync was sent and never arrived, while its heartbeats do, hears of its removal by the next of them; and where a
//     partition is taken by fiat (the same instance ID started twice, a member removed by an administrator) both run until the next
//     heartbeat. Of two members with one instance ID the first ends with a [FatalError].
//   - G13 A planned change interrupts no running task: a member that joins, one that leaves in order and waits for its tasks (StopGrace),
//     partitions that are added. Partitions on which nothing runs move at once. One on which a task runs is handed over: it starts no other,
//     and moves when that has ended and is committed, or is cancelled past config.Plan.HoldLimit. It needs our own balance strategy alone,
//     in all members; a member that misses a generation, or is lost, is no planned change.
//
// # A rebalance, step by step
//
// Under the cooperative protocol the session lives on. The new assignment is heard first; claims of partitions that it lacks stop
// starting tasks, wait for the grace, commit and return, and the others notice nothing. Under the eager protocol the session ends, and
// with it all claims; what runs goes on, and is taken over by the claims of the next session. Each assignment makes one log entry at level
// info, with the balance strategy of the round, what was gained and lost, what waits for which task, and what was thrown away, and one call
// of a [RebalanceHook]; the leader tells what moves in the whole group, and calls its [PlanHook] with a [GroupPlan].
//
// Where the leader offers our own strategy too, no partition moves on which a task runs: see G13. Otherwise, and with config.NoHold, tasks of
// a partition that moves away are cancelled when they do not end within the grace (under the eager protocol as soon as the
// assignment is heard), and run again at the new owner, which waits a moment for them to return. A member that is cut off in just that
// moment cancels at the end of its lease, and its task may overlap with the new owner's until then.
//
// # Errors
//
// [New] opens nothing and names the faulty field. [Consumer.Run] returns nil after a stop, and a [FatalError] for what waiting does not
// mend; all else is retried with pauses that grow to 10 s, and each try is told to hooks. In the log the same failure, as an error that
// sarama reports for the group or a topic, is a warning at most twice a minute, which counts those that were kept back.
//
// A topic that does not exist is named once, and the others are consumed meanwhile; it is consumed once it is there. One that was deleted
// and created again is consumed from its start, as far as the cluster tells topics apart (2.8 and newer, and Sarama.Version too). The
// session ends for that, and once more where the start could not be committed in time; tasks of other topics go on, see
// Config.TopicPattern.
//
// # Seen from outside
//
// [Consumer.Status] is a snapshot: state, lease, assignment, claims with their running task and its age, counters. Hooks are values
// with one or more of the one-method interfaces [RebalanceHook], [PlanHook], [SessionEndHook], [CommitHook], [ErrorHook], and those of package
// handler. The logger is a *slog.Logger; no secret is ever written to it.
package consumer

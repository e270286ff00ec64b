// Package handler runs the tasks of a Kafka consumer group over sarama: one call of a [Handler] for each message, for work that takes
// seconds to hours, apart from the goroutine that has to answer a rebalance.
//
//	plan, err := config.For(5 * time.Minute)            // how long a task usually takes
//	h, err := handler.New(handler.Func(makeReport), handler.Options{Plan: plan, Slots: 4})
//	err = group.Consume(ctx, topics, h)                 // sarama's own consumer group, in its usual loop
//
// A [GroupHandler] is a sarama.ConsumerGroupHandler and needs nothing else of this module but package config. Package consumer runs
// the same code over connections of its own and promises more.
//
// # What it does
//
// A message becomes a task: a call of Handle with a context of its own. nil is done, and the offset is committed once all before it on
// the partition are done; what is finished beyond that is written into the commit's metadata and not run again. An error, a panic and
// runtime.Goexit are failures: the task is tried again in its place after a pause that grows (package retry), and nothing passes it
// whose order counts. Options.Order says what that is: the partition ([ByPartition], one task of it at a time), the key ([ByKey]), or
// nothing ([None]). As many tasks run at the same time as there are slots. Between two attempts a task has no slot; then those of a claim
// that are tried again and those that wait take turns, so that neither starves the other.
//
// A handler need not know about rebalances, but it should obey its context, which ends when its time is over:
//
//	switch cause := context.Cause(ctx); {
//	case errors.Is(cause, handler.ErrRevoked):   // the partition moves to another member
//	case errors.Is(cause, handler.ErrDraining):  // this member stops
//	case errors.Is(cause, handler.ErrLost):      // another member may own the partition already
//	}
//
// What it returns after that counts as no failure. The message goes to the next owner of the partition, so a task may run more than
// once: handlers have to be idempotent.
//
// # How a message flows
//
//	Messages() --> the claim's loop --> what may start, by Options.Order --> slots: a goroutine each --> Handle
//	                |    ^                                                                                |
//	                |    '----------------------------------- results -----------------------------------'
//	                '--> what is finished --> commit
//
// One loop owns a claim: it alone receives, settles, commits and decides. It shares one short lock with the slots, which is never held over
// a call or a channel. Short tasks are handed over in runs of up to 64, long ones singly. There is no goroutine, timer or channel operation
// for each message; the context of a task is made when somebody asks for its channel. ARCHITECTURE.md says which file does what.
//
// # What happens at a rebalance
//
//	an assignment without the partition  (with BalanceStrategies)              \
//	the session's context ends           (eager, stop, lost heartbeats)         > the claim takes no more
//	Messages() is closed                 (cooperative; or a stream breaks)     /        |
//	                                                                                    v
//	results first -> nothing starts any more, what was queued is dropped -> grace
//	            -> contexts cancelled with a cause -> a moment to return -> last commit -> ConsumeClaim returns
//	            a task that still runs is a stray: it keeps its slot and its partition, and its result is dropped
//
// The same path is the way out at a stop and when the membership is lost; only the [Reason], and with it the grace, differs.
//
// Where the session ends and the partition may come back to this member, tasks that do not end in the grace are not cancelled: they go
// on, and the next claim of the partition takes them over, whether or not their messages are delivered again. An assignment without the
// partition cancels them at once. With [GroupHandler.WorkPreserving], which BalanceStrategies makes by itself, the leader leaves partitions
// where they are on which a task runs: see G13. A claim that goes on although its member has missed a generation first looks whether somebody else has
// had the partition. All of it needs the strategies of [GroupHandler.BalanceStrategies], one alone.
//
// # What it promises
//
// The numbers are those of the whole module's guarantees. Each has tests that run under eager and cooperative rebalancing.
//
//   - G1 Nothing lost. An offset is committed only after the task of its message, and those of all before it on the partition, have
//     succeeded. Nothing is ever skipped: a message that fails is tried again until it succeeds.
//   - G2 Committed never passes the gap-free prefix of finished messages. What finished beyond it is in the commit's metadata, and is not
//     run again by whoever reads that: package consumer. Where the map of it would not fit into a commit (4,096 bytes hold any pattern
//     of 25,000 offsets, and many more where few are unfinished), intake waits; and so it does, whatever the map, once 100,000 messages
//     are delivered from the first unfinished one on: a new owner has to read them again, to pass them over.
//   - G3 A rebalance waits for no task beyond the plan's Grace: ConsumeClaim returns within a second after it, even if every task hangs
//     and ignores its context. Nothing starts after the end of the session or, with the strategies of
//     [GroupHandler.BalanceStrategies], after an assignment that lacks the partition. The pause before a retry holds nothing up.
//   - G4 A task whose partition comes back to this member is not started again: it goes on from one session to the next, through any
//     number of them, and its result counts.
//   - G5 A result that arrives after the partition was given up is counted ([Counts].Strays), logged and dropped: never committed.
//   - G6 Order: the tasks of a partition, or of a key, start in the order of their offsets and never overlap, not even with a task of an
//     earlier claim in this process. Without order they start in that of their offsets, but for retries.
//   - G7 A panic, a runtime.Goexit or a stubborn task takes down neither the process nor another task. A panic is logged once an attempt,
//     with its stack. A task that hangs holds its slot and its key or partition (once it was given up, its partition in any order), and
//     nothing else.
//   - G8 A cancellation is not a failure: no attempt is counted and nothing is logged as one. A panic is logged in any case.
//   - G9 Memory is bounded: each claim holds at most the plan's BacklogMessages (at least 10,000 by key and without order, where running
//     tasks do not count) or BacklogBytes, whichever is reached first, and what one fetch brings beyond that; all claims together hold
//     at most Options.BacklogBytes. Then fetching pauses, and Messages is received all the same. Long tasks get a copy of their message,
//     so that none keeps a whole fetch response alive.
//   - G10 Stopping is bounded: running tasks get the plan's StopGrace. Their contexts end after it, or at its start where they are too long
//     to be waited for ([config.Plan].StopCancelFirst). A second after the grace at most, those that still run are given up. Idle claims
//     return at once.
//   - G13 A planned change interrupts no running task, where all members offer [GroupHandler.WorkPreserving] alone. A partition that has
//     to move starts nothing more ([ClaimStatus].HandingOver) and moves when its tasks have ended, or are past the plan's HoldLimit.
//
// # What is weaker over a plain sarama group
//
// Package consumer mends these; over the user's own sarama.ConsumerGroup they are as sarama has them.
//
//   - Commits are marks, and nobody hears whether they arrived. For tasks of 100 ms and more the session is asked to commit after each;
//     sarama sends that over the connection that also waits for fetches, which takes about a second, and longer during a rebalance.
//     A crash in between runs the task again. Shorter tasks leave it to sarama's interval.
//   - Consumer.Offsets.AutoCommit.Enable has to stay true (it is by default): with it off sarama throws marks away at the end of
//     a session and of a revoked claim.
//   - There is no lease (G12). That the membership is lost is noticed by sarama's heartbeats alone, which may take minutes after a cut;
//     tasks go on meanwhile, although another member may have their partition.
//   - Back-pressure uses the switch of sarama's Pause and Resume: what the user pauses on the group does not stay paused. A claim that is
//     wrapped and has lost its Pause and Resume methods is not received from while its backlog is full; a cooperative revocation is
//     then heard late, unless the strategies are those of [GroupHandler.BalanceStrategies].
//   - During a stop sarama tells nobody of a rebalance that comes up: it waits for running tasks up to StopGrace.
//   - A stop between two sessions is not told: tasks that go on then do so up to the plan's Lease after the group was closed, while
//     another member may run them again. [GroupHandler.Wait] waits for them.
//   - The round in which an idle partition moves is asked for by the end of its claim, which ends the session; a member that stops does not
//     drain; and a task past the HoldLimit is stopped in the next round that comes for another reason.
//   - Running tasks go on between two sessions only when the session has ended in order, and for no longer than the plan's Lease. They are
//     adopted if member id and generation prove it and the claim starts where the one before has marked.
//   - The metadata of a commit cannot be read: what had finished beyond the committed offset is run again after a restart, and by the
//     next owner. It is written all the same, for a member of package consumer to read.
//
// # How many slots
//
// Options.Slots is how many tasks run at once in this member. The default, as many as partitions are claimed, is right as long as a task
// costs this process little, and by partition no more could run. By key or without order more are of use: set what the machine bears.
// Where tasks take a core, a licence or much memory each, set what the machine has; partitions then take turns.
// One slot makes a strictly serial consumer, which old handlers ([Legacy]) may count on. A stray keeps its slot until it returns.
//
// # Hooks
//
// Each value of Options.Hooks may implement any of these one-method interfaces:
//
//   - [TaskStartHook] and [TaskEndHook]: each handler call, and what became of its result
//   - [ClaimStartHook] and [ClaimEndHook]: partitions taken and given up, with reason, time waited and tasks given up
//   - [GapHook]: messages that were gone before they were read (package consumer only)
//
// [GroupHandler.Status] has counters and what runs now, for those who rather ask than listen.
package handler

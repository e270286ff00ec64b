// Package config derives the settings of a Kafka consumer group member from how long its tasks take, explains them, writes them
// into a sarama.Config, and finds the faults of a hand-made one.
//
//	plan, err := config.For(5 * time.Minute)
//	fmt.Println(plan)              // every value with its reason
//	cfg, err := plan.Apply(base)   // a changed copy of your sarama.Config
//
//	for _, f := range config.Check(cfg, 5*time.Minute) {
//		log.Println(f)             // field, value, why, and what to use instead
//	}
//
// [Input] has what a plan may depend on beside the duration: the longest normal task, the protocol, static membership, a wished
// crash detection or grace, and what is known of the broker and of other members. Nonsense and contradictions are errors that name
// the field, its value and the remedy, before any connection is opened.
//
// # Why not the classic advice
//
// The classic advice for long tasks is: session timeout above the task time, heartbeat interval a third of it, and so on for every
// other timeout. It comes from clients in which processing blocked the heartbeats. In sarama it does not: since v1.31.1 heartbeats
// run in a goroutine of their own until the last commit of a session. What a handler that does not return holds up is the rebalance.
//
// So no timeout has to exceed a task. Following the classic advice for tasks of 6 hours means that a crashed member's partitions
// lie idle for 6 hours, and that the group hears of a newcomer after 2. Nor is Consumer.MaxProcessingTime a limit for tasks: raised
// to the task time, a busy partition stops the fetches of every other partition on its broker, and their revocation.
//
// # What is derived, and from what
//
// The task duration still counts where that is sound:
//
//   - Session timeout: 1.2 × Expected within 45 s and 5 min. Time lost after a crash stays in proportion to a task, and never grows
//     to hours. Within the broker's limits; [Plan.WithBroker] derives again once they were read.
//   - Heartbeat interval: 3 s, whatever the task. It is how late a member hears of a rebalance.
//   - Grace: short tasks are waited for, 1.2 × Max. Longer ones cannot be: they are cancelled at once and get 5 s to wind down.
//   - Rebalance timeout: the grace, a heartbeat and 12 s to release claims for short tasks; for long ones the session timeout, at
//     most 90 s. Never the task time.
//   - Lease: how long tasks run on without a good heartbeat, the shorter of session and rebalance timeout less 5 s. It ends before
//     the broker can have given the partitions away.
//   - Buffers: two seconds of work in sarama's channels, one message at least, and smaller fetches for longer tasks, since what has
//     been fetched lies in memory for the length of a task.
//   - Commits: at once, or every 200 ms where a commit costs more than a task.
//
// # Long and short
//
// A task counts as short when 1.2 × [Input.Max] is at most 15 s under eager rebalancing, where the whole group stands still
// meanwhile, or 60 s under cooperative, where only the partitions that move do. [Plan.CancelFirst] says which way a plan goes.
//
// # Versions
//
// The rules follow sarama v1.61 and the classic group protocol of Kafka 2.1 to 4.x. Limits are those of the broker's defaults
// unless [Input.Broker] says otherwise.
package config

// Package kit is what the scenario tests share: a group under test, members of it in this process or in processes of their own, one
// history of what all of them did, and waits that show the history when they give up.
//
// A test reads like this:
//
//	kit.Each(t, func(t *testing.T, s kit.Setting) {     // on each broker, under both protocols
//		g := s.Group(t, 4)                              // a topic of 4 partitions
//		g.Produce(2)                                    // 2 messages on each
//		gate := kit.NewGate()                           // tasks last until the test says so
//		a := g.Start("a", gate.Hold)                    // a member, running
//		g.UntilSeen(4, kit.Started, kit.By("a"))
//		gate.Open()
//		g.UntilAllHandled()                             // every message handled and committed
//		a.Stop()
//	}, kit.Fake, kit.Kafka(&shared, kafkatest.Newest))
//
// [EachOrder] runs a scenario for each order of messages too, and [Group.WantSound] holds the whole history against it.
//
// A member that has to be killed or frozen is started with [Group.StartProcess]; TestMain then calls [Main].
//
// Nothing sleeps until something should have come true: it waits for the condition. What sleeps has a time as its scenario, such as an
// outage of 5 s, or watches for a while that something does not happen or grow.
//
// A bound that a scenario states is checked with [Group.WantWithin] on the times of the history, and [Slack] is added to it: the tests of
// a binary share two cores with the brokers and the race detector.
package kit

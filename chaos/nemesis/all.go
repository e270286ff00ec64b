package nemesis

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
)

// nemesis is one kind of fault.
type nemesis struct {
	what  string
	class ledger.Class
	lasts [2]time.Duration
	run   func(ctx context.Context, w *World, s Step) error
}

func seconds(from, to int64) [2]time.Duration {
	return [2]time.Duration{time.Duration(from) * time.Second, time.Duration(to) * time.Second}
}

var all = map[string]nemesis{
	"join-leave":       {"two more members join within half a second and leave again", ledger.Planned, seconds(3, 6), joinLeave},
	"storm":            {"three more members come and go, each several times and after at most 2 s", ledger.Planned, seconds(4, 8), storm},
	"scale":            {"the number of members goes to 1, 3, 5 and 2 and back, all stops in order", ledger.Planned, seconds(24, 32), scale},
	"leave":            {"a member stops in order and comes back", ledger.Planned, seconds(2, 8), leave},
	"rolling-restart":  {"all members, one after the other, stop in order and come back at once", ledger.Planned, seconds(8, 12), rollingRestart},
	"add-partitions":   {"a topic gets two more partitions", ledger.Planned, seconds(3, 6), addPartitions},
	"kill":             {"SIGKILL of a member", ledger.OfMember, seconds(1, 8), kill},
	"kill-leader":      {"SIGKILL of the leader of a group", ledger.OfMember, seconds(1, 8), killLeader},
	"freeze":           {"SIGSTOP of a member for longer than the session timeout", ledger.OfMember, seconds(8, 14), freeze},
	"blink":            {"SIGSTOP of a member for less than the session timeout", ledger.OfMember, seconds(1, 4), freeze},
	"cut":              {"everything between a member and the brokers is held, silently", ledger.OfMember, seconds(2, 14), cut},
	"cut-one-way":      {"the same in one direction only", ledger.OfMember, seconds(2, 14), cutOneWay},
	"cut-connection":   {"the same of one kind of connection only: group, commits, or fetches", ledger.OfMember, seconds(2, 14), cutConnection},
	"slow":             {"everything between a member and the brokers takes 50 to 400 ms longer each way", ledger.OfMember, seconds(4, 12), slow},
	"slow-one-way":     {"the same in one direction only, 0.1 to 2 s", ledger.OfMember, seconds(4, 12), slowOneWay},
	"slow-connection":  {"the same of one kind of connection only: group, commits, or fetches", ledger.OfMember, seconds(4, 12), slowConnection},
	"reset":            {"all connections of a member are reset", ledger.OfMember, seconds(0, 1), reset},
	"expel":            {"an administrator removes a member from a group", ledger.OfMember, seconds(0, 1), expel},
	"kill-coordinator": {"SIGKILL of the node that coordinates a group", ledger.OfCluster, seconds(3, 10), killCoordinator},
	"move-coordinator": {"a group gets another coordinator, and nothing ends", ledger.OfCluster, seconds(1, 4), moveCoordinator},
	"pause-node":       {"SIGSTOP of a node", ledger.OfCluster, seconds(1, 8), pauseNode},
	"roll-brokers":     {"all nodes, one after the other, stop in order and come back", ledger.OfCluster, seconds(15, 25), rollBrokers},
	"move-leaders":     {"partitions get another leader", ledger.OfCluster, seconds(1, 4), moveLeaders},
	"refuse-commits":   {"the brokers refuse to store commits and memberships: too few replicas for the offsets topic", ledger.OfCluster, seconds(2, 8), refuseCommits},
}

// NotTried are faults that this laboratory cannot make, with the reason.
var NotTried = map[string]string{
	"clock jump": "setting the clock of the machine would set it for everything else that runs there, and a process cannot have a wall clock of its own",
	"disk full":  "the brokers write to the machine's own disk; refuse-commits is what clients see of it",
}

// Names are the names of all, sorted.
func Names() []string { return slices.Sorted(maps.Keys(all)) }

// What says what a nemesis does.
func What(name string) string { return all[name].what }

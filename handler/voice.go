package handler

import (
	"log/slog"

	"github.com/evenkeel-go/evenkeel/internal/assign"
	"github.com/evenkeel-go/evenkeel/internal/strategy"
)

// voice is what the member says to the leader of its group, and hears from it.
type voice struct{ g *GroupHandler }

var _ strategy.Member = voice{}

// Report implements strategy.Member.
func (v voice) Report() assign.Report {
	r := v.g.heard.report()
	r.Owner, r.Slots = v.g.pool.owner, v.g.opts.Slots
	if !v.g.heard.isMixed() { // else the round in which a partition is handed over would end the tasks of the others
		v.g.pool.report(&r, v.g.opts.Plan)
	}
	return r
}

// Assigned implements strategy.Member: what the member has lost stops first, and the rest is told what is to be handed over.
func (v voice) Assigned(a strategy.Assignment, w strategy.Word, generation int32) {
	if !w.Known {
		v.g.logger.Warn("an assignment under our own strategy says nothing of running tasks: who has made it is of another kind, such as a broker that has "+
			"taken the group over for a member of the newer protocol (group.protocol=consumer, KIP-848); partitions may move while tasks run there until "+
			"all members are of the classic protocol and of this library", slog.Int("generation", int(generation)))
	}
	v.hear(a, w, generation)
}

// hear passes on what the leader says. A mixed group hands nothing over: see Report.
func (v voice) hear(a strategy.Assignment, w strategy.Word, generation int32) {
	v.g.heard.hearSaid(a, w, generation)
	if v.g.heard.isMixed() {
		w = strategy.Word{}
	}
	v.g.pool.handOver(a, w)
}

// Crowded implements strategy.Member.
func (v voice) Crowded(bytes int) {
	v.g.logger.Warn("what the members of the group say of themselves is about to be too much for the broker, which keeps a group in one record (1 MB by default, "+
		"message.max.bytes): let fewer members, or each of them fewer topics, be in a group", slog.Int("bytes", bytes))
}

// assignedByOther hears the assignments of other strategies: what ours has said before counts no longer.
func (v voice) assignedByOther(a strategy.Assignment, generation int32) {
	v.hear(a, strategy.Word{}, generation)
}

// Planned implements strategy.Member.
func (v voice) Planned(p *assign.Plan) {
	if p.Failure != nil {
		v.g.logger.Error("a fault of the planner: this round leaves all partitions where they are; please report it", attrFailure(p.Failure))
	}
	handOver, stop := 0, 0
	for _, s := range p.Shares {
		handOver, stop = handOver+count(s.HandOver), stop+count(s.Stop)
	}
	v.g.logger.Info("this member leads the group, and has planned a round", slog.Int("members", len(p.Shares)), slog.Int("moved", len(p.Moved)),
		slog.Int("moved_next_round", len(p.Withheld)), slog.Int("to_hand_over", handOver), slog.Int("to_stop", stop), slog.Int("unserved", count(p.Unserved)))
}

func count(sets assign.Partitions) (n int) {
	for _, list := range sets {
		n += len(list)
	}
	return n
}

// report is what the member owns.
func (o *ownership) report() assign.Report {
	o.mu.Lock()
	defer o.mu.Unlock()
	return assign.Report{Generation: o.generation, Owned: assign.Partitions(o.latest)}
}

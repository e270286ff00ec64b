package consumer

import (
	"github.com/evenkeel-go/evenkeel/internal/assign"
)

// planned hears what this member has decided as the leader of its group.
func (m *membership) planned(p *assign.Plan) {
	if len(m.hooks.plan) == 0 {
		return
	}
	told := GroupPlan{Members: make(map[string]Share, len(p.Shares)), Moved: movesOf(p.Moved), Withheld: movesOf(p.Withheld), Unserved: sorted(p.Unserved)}
	for id, s := range p.Shares {
		told.Members[id] = Share{Assigned: sorted(s.Assigned), HandOver: sorted(s.HandOver), Stop: sorted(s.Stop)}
	}
	m.hooks.planned(told)
}

func movesOf(moves []assign.Move) (list []Move) {
	for _, one := range moves {
		list = append(list, Move(one))
	}
	return list
}

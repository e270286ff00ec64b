package commit

import (
	"errors"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/member"
)

// A commit whose answer never came may still arrive: a broker that was frozen, or a proxy on the way, has read it, and works it off beside
// what came later over another connection. Such a ghost overwrites newer commits, for the broker looks at member and generation only.
// So what is stored after an unanswered commit is sent once more, when ghosts have had their time.

// identity is by what the broker tells commits apart: a ghost of another one is refused.
type identity struct {
	memberID   string
	generation int32
}

// ghostTime is how long after the first good answer a ghost may come: what has kept both is over then.
const ghostTime = 2 * time.Second

// hauntLocked notes whether the outcome of a request is unknown. It is of the partition, not of the claim: that may be over.
func (l *Loop) hauntLocked(c *Claim, r Request, err error) {
	var answer sarama.KError
	if err != nil && !errors.As(err, &answer) {
		l.ghosts[key{c.Topic, c.Partition}] = identity{r.MemberID, r.Generation}
	}
}

// confirmLocked sends what has been stored once more where a ghost may overwrite it, unless something newer is sent by then.
func (l *Loop) confirmLocked(c *Claim, r Request, p member.Position) {
	k := key{c.Topic, c.Partition}
	if ghost, ok := l.ghosts[k]; ok {
		delete(l.ghosts, k)
		if ghost == (identity{r.MemberID, r.Generation}) {
			c.ghostly = time.Now().Add(ghostTime)
		}
	}
	c.again = !c.due && time.Until(c.ghostly) > 0
	if c.again {
		c.pending, c.due, c.since, c.notBefore = p, true, c.ghostly, c.ghostly
	}
}

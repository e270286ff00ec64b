package offset

import (
	"encoding/binary"
	"errors"
	"strings"

	"github.com/evenkeel-go/evenkeel/internal/packed"
)

// Why a text has no map for us.
var (
	// ErrForeign is returned for a text that this library did not write; an empty one is such.
	ErrForeign = errors.New("the commit's metadata is not of this library")
	// ErrVersion is returned for a text of a version that this one does not know.
	ErrVersion = errors.New("the commit's metadata is of another version of this library")
	// ErrDamaged is returned for a text that was changed or cut.
	ErrDamaged = errors.New("the commit's metadata is damaged")
	// ErrMoved is returned for a text that belongs to another offset: somebody has set the group's offsets.
	ErrMoved = errors.New("the commit's metadata belongs to another offset")
)

// Decode reads the text of a commit. With an error, the state is that of a commit without a map, so that all beyond the committed
// offset runs again; only for ErrMoved it has the stamp. It never panics, and allocates at most some 64 bytes for each character.
func Decode(text string, committed int64) (State, error) {
	replay := State{Next: committed}
	body, err := open(text)
	if err != nil {
		return replay, err
	}
	s, ok := parse(body)
	switch {
	case !ok:
		return replay, ErrDamaged
	case s.Next != committed:
		replay.Stamp = s.Stamp
		return replay, ErrMoved
	}
	return s, nil
}

// open returns what the checksum is made of.
func open(text string) ([]byte, error) {
	rest, ours := strings.CutPrefix(text, magic)
	if !ours || rest == "" {
		return nil, ErrForeign
	}
	if rest[0] != version {
		return nil, ErrVersion
	}
	b, ok := parseZ85(rest[1:])
	if !ok || len(b) < 4 || binary.BigEndian.Uint32(b) != checksum(b[4:]) {
		return nil, ErrDamaged
	}
	return b[4:], nil
}

func parse(body []byte) (s State, ok bool) {
	p := parser{packed.Reader{In: body}}
	s.Stamp = Stamp{Owner: p.Uint64(), Count: p.Uvarint()}
	s.Next = p.Uvarint()
	for len(p.In) > 0 && !p.Bad {
		p.section(&s)
	}
	return s, !p.Bad
}

type parser struct{ packed.Reader }

func (p *parser) section(s *State) {
	tag, content := p.Next(1), p.Next(p.Uvarint())
	switch {
	case p.Bad:
	case tag[0] == mapTag:
		finished, ok := parseHoles(content, s.Next)
		s.Finished, p.Bad = finished, !ok
	default:
		s.More = append(s.More, Section{tag[0], content})
	}
}

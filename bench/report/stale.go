package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// compare finds what is out of date beside what the rows and the sides are today: rows that are no more are left out, of the others it is said.
func (b *book) compare(today *book) {
	b.sections = slices.DeleteFunc(b.sections, func(s *section) bool { return today.find(s.Name) == nil })
	for _, s := range b.sections {
		s.compare(today.find(s.Name))
	}
	for _, now := range today.sections {
		if b.find(now.Name) == nil {
			b.missing = append(b.missing, now.Name)
		}
	}
}

func (b *book) find(name string) *section {
	i := slices.IndexFunc(b.sections, func(s *section) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return b.sections[i]
}

func (s *section) compare(now *section) {
	if s.What != now.What {
		s.stale = append(s.stale, "it measures something else today: "+now.What)
	}
	if !s.Peers || s.run == nil || now.run == nil {
		return
	}
	for _, side := range slices.Sorted(maps.Keys(now.run.Peers)) {
		if before, there := s.run.Peers[side]; there && before != now.run.Peers[side] {
			s.stale = append(s.stale, fmt.Sprintf("`%s` took part as: %s", side, before))
		}
	}
}

// outOfDate lists the rows that are to be measured again, before any figure.
func (b *book) outOfDate(w *strings.Builder) {
	var names []string
	for _, s := range b.sections {
		if len(s.stale) > 0 {
			names = append(names, fmt.Sprintf("[%s](#%s)", s.Name, s.Name))
		}
	}
	if len(names) > 0 {
		fmt.Fprintf(w, "\n## Out of date\n\nThese rows were measured in another form than they have today, as each of them says: %s.\n", strings.Join(names, ", "))
	}
}

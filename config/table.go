package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// columns is how wide a plan prints.
const columns = 110

// row is one line of a printed plan: a value and its reason.
type row struct {
	name, value string
	field       string // the path in sarama.Config, empty where the value goes elsewhere
	why         string
}

// text is the last column.
func (r row) text() string {
	if r.field == "" {
		return r.why
	}
	return r.field + ": " + r.why
}

// table aligns the rows of several sections; each section has a heading of its own.
type table struct {
	b           strings.Builder
	name, value int // widths
}

func newTable(rows []row) *table {
	return &table{
		name:  width(rows, func(r row) string { return r.name }),
		value: width(rows, func(r row) string { return r.value }),
	}
}

func width(rows []row, of func(row) string) int {
	longest := slices.MaxFunc(rows, func(a, b row) int {
		return cmp.Compare(utf8.RuneCountInString(of(a)), utf8.RuneCountInString(of(b)))
	})
	return utf8.RuneCountInString(of(longest))
}

func (t *table) section(heading string, rows []row) {
	for _, line := range wrap(heading, columns) {
		fmt.Fprintln(&t.b, line)
	}
	for _, r := range rows {
		t.row(r)
	}
}

func (t *table) row(r row) {
	name, value := r.name, r.value
	for _, line := range wrap(r.text(), columns-t.name-t.value-6) {
		fmt.Fprintf(&t.b, "  %-*s  %-*s  %s\n", t.name, name, t.value, value, line)
		name, value = "", ""
	}
}

// wrap breaks text at spaces. A word longer than the width gets a line of its own.
func wrap(text string, most int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= most:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	return append(lines, line)
}

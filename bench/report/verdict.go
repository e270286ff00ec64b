package main

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// even is how far apart medians are, as a part of the better one, that say nothing.
const even = 0.01

// better says that a is better than b by more than nothing.
func (c *column) better(a, b cell) bool {
	if a.waiting || math.Abs(a.value-b.value) <= even*max(math.Abs(a.value), math.Abs(b.value)) {
		return false
	}
	return c.more == (a.value > b.value)
}

// overlap says that the rounds of one reach into those of the other.
func overlap(a, b cell) bool { return a.min <= b.max && b.min <= a.max }

// beats says how a peer is better than we are, or nothing.
func (c *column) beats(peer string) string {
	theirs, has := c.cells[peer]
	own := c.cells[ours]
	if !has || !c.better(theirs, own) {
		return ""
	}
	text := c.label
	if low, high := min(theirs.value, own.value), max(theirs.value, own.value); low > 0 {
		text = fmt.Sprintf("%s, %s times", c.label, number(high/low))
	}
	if overlap(theirs, own) {
		text += " (within the spread)"
	}
	return text
}

// best says that no side is better.
func (c *column) best(side string) bool {
	for _, one := range c.cells {
		if c.better(one, c.cells[side]) {
			return false
		}
	}
	return !c.cells[side].waiting
}

// number has three digits that count, in a form that people read.
func number(v float64) string {
	if math.Abs(v) < 999.5 {
		text := strconv.FormatFloat(v, 'g', 3, 64)
		if strings.Contains(text, "e") {
			text = strconv.FormatFloat(v, 'f', -1, 64)
		}
		return text
	}
	scale := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-2)
	return thousands(strconv.FormatFloat(math.Round(v/scale)*scale, 'f', 0, 64))
}

// thousands sets a comma after each three digits.
func thousands(digits string) string {
	head := len(digits) % 3
	if strings.HasPrefix(digits, "-") && head == 1 {
		head += 3
	}
	var b strings.Builder
	b.WriteString(digits[:head])
	for i := head; i < len(digits); i += 3 {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(digits[i : i+3])
	}
	return b.String()
}

// String is the median with its spread.
func (c cell) String() string {
	text := number(c.value)
	if c.waiting {
		text = "over " + text
	}
	if c.rounds > 1 {
		text += fmt.Sprintf(" (%s..%s)", number(c.min), number(c.max))
	}
	return text
}

// labelOf is a figure's name without that of its row.
func labelOf(name, row string) string {
	label := strings.Trim(strings.TrimPrefix(name, row), "_")
	if label == "" {
		return row
	}
	return strings.ReplaceAll(label, "_", " ")
}

var size = regexp.MustCompile(` ?\d+(ms)?$`)

// stemOf is a label without the size at its end.
func stemOf(label string) string { return size.ReplaceAllString(label, "") }

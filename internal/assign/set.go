package assign

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/evenkeel-go/evenkeel/internal/packed"
)

// The two forms of a set.
const (
	listForm = iota
	bitmapForm
	forms
)

// appendSet writes a set in its shorter form, behind its length and form. It is in order, and neither empty nor negative.
func appendSet(dst []byte, set []int32) []byte {
	span := int(set[len(set)-1] - set[0])
	list, bitmap := listLen(set), uvarintLen(set[0])+bytesOf(span)
	if list <= bitmap {
		return appendList(appendUvarint(dst, list*forms+listForm), set)
	}
	return appendBitmap(appendUvarint(dst, bitmap*forms+bitmapForm), set, bytesOf(span))
}

func listLen(set []int32) (n int) {
	n, last := uvarintLen(set[0]), set[0]
	for _, x := range set[1:] {
		n, last = n+uvarintLen(x-last-1), x
	}
	return n
}

func appendList(dst []byte, set []int32) []byte {
	dst, last := appendUvarint(dst, set[0]), set[0]
	for _, x := range set[1:] {
		dst, last = appendUvarint(dst, x-last-1), x
	}
	return dst
}

// appendBitmap writes the first number, and a bit for each one after it.
func appendBitmap(dst []byte, set []int32, length int) []byte {
	dst = appendUvarint(dst, set[0])
	from := len(dst)
	dst = append(dst, make([]byte, length)...)
	for _, x := range set[1:] {
		at := x - set[0] - 1
		dst[from+int(at/8)] |= 1 << (at % 8)
	}
	return dst
}

// set reads a set. It makes at most eight numbers of a byte, and one more.
func (p *parser) set() []int32 {
	head := p.Uvarint()
	in := parser{Reader: packed.Reader{In: p.Next(head / forms)}}
	var set []int32
	if first := in.Uvarint(); head%forms == listForm {
		set = in.list(first)
	} else {
		set = in.bitmap(first)
	}
	p.Bad = p.Bad || in.Bad
	return set
}

func (p *parser) list(at int64) []int32 {
	set := p.add(make([]int32, 0, len(p.In)+1), at)
	for len(p.In) > 0 && !p.Bad {
		at += 1 + p.Uvarint()
		set = p.add(set, at)
	}
	return set
}

func (p *parser) bitmap(first int64) []int32 {
	n := 1
	for _, b := range p.In {
		n += bits.OnesCount8(b)
	}
	set := p.add(make([]int32, 0, n), first)
	for i, b := range p.In {
		for ; b != 0 && !p.Bad; b &= b - 1 {
			set = p.add(set, first+1+int64(8*i+bits.TrailingZeros8(b)))
		}
	}
	return set
}

// add appends a number that a partition may have; a sum that was too large is negative.
func (p *parser) add(set []int32, at int64) []int32 {
	if at < 0 || at > math.MaxInt32 {
		p.Bad = true
		return set
	}
	return append(set, int32(at))
}

// bytesOf is how many bytes so many bits take.
func bytesOf(bits int) int { return (bits + 7) / 8 }

// appendUvarint takes what is not negative.
func appendUvarint[T int | int32 | int64](dst []byte, v T) []byte {
	return binary.AppendUvarint(dst, uint64(v))
}

func uvarintLen[T int | int32](v T) int {
	return (bits.Len64(uint64(v)|1) + 6) / 7
}

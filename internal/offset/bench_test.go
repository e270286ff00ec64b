package offset_test

import (
	"math/rand/v2"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/offset"
)

// Each iteration is a message delivered and a message finished.
func BenchmarkInOrder(b *testing.B) {
	tr, o := offset.New(0, nil), int64(0)
	b.ReportAllocs()
	for b.Loop() {
		tr.Deliver(o)
		tr.Finish(o)
		o++
	}
}

func BenchmarkShuffled25000(b *testing.B) { benchmarkShuffled(b, func(i int64) int64 { return i }) }

// Every tenth offset is the marker of a transaction.
func BenchmarkShuffled25000WithGaps(b *testing.B) {
	benchmarkShuffled(b, func(i int64) int64 { return i + i/9 })
}

// benchmarkShuffled delivers windows of 25,000 and finishes each in a random order.
func benchmarkShuffled(b *testing.B, at func(i int64) int64) {
	const window = 25_000
	perm := rand.New(rand.NewPCG(1, 2)).Perm(window)
	tr, begin, i := offset.New(0, nil), int64(-window), window
	b.ReportAllocs()
	for b.Loop() {
		if i == window {
			begin, i = begin+window, 0
			for k := range int64(window) {
				tr.Deliver(at(begin + k))
			}
		}
		tr.Finish(at(begin + int64(perm[i])))
		i++
	}
}

func BenchmarkBoundAfter(b *testing.B) {
	tr := behindOne(10_000, func(i int64) bool { return i%3 == 0 })
	for b.Loop() {
		tr.BoundAfter(first + 10_001)
	}
}

// A commit with a map, and its reading.
func BenchmarkText(b *testing.B) {
	for _, bench := range []struct {
		name     string
		finished func(i int64) bool
	}{
		{"one slow of 25000", func(int64) bool { return true }},
		{"100 slow of 25000", func(i int64) bool { return i*i%251 != 0 }},
		{"half of 25000", func(i int64) bool { return i*i%7 < 3 }},
	} {
		tr := behindOne(24_999, bench.finished)
		b.Run("encode/"+bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				textOf(tr)
			}
		})
		text := textOf(tr)
		b.Run("decode/"+bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := offset.Decode(text, first); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

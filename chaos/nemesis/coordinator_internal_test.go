package nemesis

import "testing"

// The hashes are those of Java's String.hashCode.
func TestAGroupIsKeptWhereJavaPutsIt(t *testing.T) {
	for name, hash := range map[string]int32{
		"hello":              99_162_322,
		"Aa":                 2_112,
		"key-cooperative":    1_530_782_499, // without its sign
		"polygenelubricants": 0,             // the least int32, which Kafka takes for 0
	} {
		for _, n := range []int32{1, 5, 50} {
			if got, want := partitionOf(name, n), hash%n; got != want {
				t.Errorf("%s is in partition %d of %d, want %d", name, got, n, want)
			}
		}
	}
}

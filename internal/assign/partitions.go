package assign

import "slices"

// Partitions are partitions by topic, in any order.
type Partitions map[string][]int32 //nolint:recvcheck // only Add may have to make the map

// Has says that a partition is among them.
func (s Partitions) Has(topic string, number int32) bool { return slices.Contains(s[topic], number) }

// Add appends a partition, and makes the map where it is nil.
func (s *Partitions) Add(topic string, number int32) {
	if *s == nil {
		*s = Partitions{}
	}
	(*s)[topic] = append((*s)[topic], number)
}

// Put is Add for a partition that may be there already.
func (s *Partitions) Put(topic string, number int32) {
	if !s.Has(topic, number) {
		s.Add(topic, number)
	}
}

// ascending returns a copy in order, without repetitions and numbers that no partition has.
func ascending(numbers []int32) []int32 {
	sorted := numbers
	if !slices.IsSorted(numbers) {
		sorted = slices.Sorted(slices.Values(numbers))
	}
	first, _ := slices.BinarySearch(sorted, 0)
	return slices.Compact(slices.Clone(sorted[first:]))
}

// named returns a copy of names in order, without repetitions.
func named(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

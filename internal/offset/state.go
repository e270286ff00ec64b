package offset

// MaxText is how long the text of a commit may be on a broker with defaults (offset.metadata.max.bytes).
const MaxText = 4096

// Stamp says which member owns the partition. The zero value says nobody.
type Stamp struct {
	Owner uint64 // a member's random id
	Count int64  // of take-overs; it only rises, and is not negative
}

// State is what a commit carries besides its offset.
type State struct {
	Stamp    Stamp
	Next     int64     // the offset that the commit carries
	Finished Ranges    // beyond Next; in order and not touching each other, as Tracker.Ranges and Decode return them
	More     []Section // further sections, the most important one first
}

// Section is a part of the text that this package does not know. Tags from 2 on are free; each has one meaning for ever.
type Section struct {
	Tag     byte
	Content []byte
}

// mapTag is the tag of the hole map.
const mapTag = 1

// sectionLen is the length of a section whose content has the given length.
func sectionLen(content int) int { return 1 + uvarintLen(int64(content)) + content }

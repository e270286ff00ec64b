// Package offset turns ends that come in any order into an offset that may be committed and a map of what is finished beyond it,
// and writes both into the metadata of a commit, so that whoever reads the partition next runs only what is missing.
//
// It is pure: no goroutine, no clock, no lock, no sarama. A [Tracker] belongs to one goroutine.
//
// # The text of a commit
//
// Kafka keeps a string with each committed offset, of 4,096 bytes unless the broker's offset.metadata.max.bytes says otherwise.
// [State.Encode] writes ASCII alone, so that bytes, characters and UTF-16 units (which Apache's broker counts) are the same number.
// All of it is of Z85's alphabet: letters, digits and .-:+=^!/*?&<>()[]{}@%$# (no quote, no comma, no space; escape it in HTML).
//
//	characters 0 to 3    keel
//	character 4          the version, 1
//	characters 5 to end  Z85 of the bytes below: 5 characters for 4 bytes, big endian; n bytes at the end, fewer than 4, are n+1 characters
//
//	bytes 0 to 3         CRC-32C of all bytes that follow, big endian
//	bytes 4 to 11        owner id, big endian
//	uvarint              take-over count
//	uvarint              frontier: the offset that the commit carries
//	sections, each:
//	  byte               tag
//	  uvarint            length of the content
//	  bytes              content
//
// A uvarint is that of encoding/binary, here below 2^63. Sections stand in the order of their importance. A reader passes over tags
// that it does not know, so that sections may be added without a new version.
//
// Section 1 is the hole map. It starts at the frontier and has runs of offsets, unfinished and finished in turn, unfinished first,
// finished last, each at least 1 long:
//
//	byte                 k of unfinished runs, 0 to 62
//	byte                 k of finished runs, 0 to 62
//	uvarint              number of pairs of runs
//	bits                 the runs, each in Rice code: (length-1)>>k zeros, a one, the k low bits of length-1, lowest first.
//	                     Bits fill a byte from the lowest to the highest; the last byte is filled up with zeros
//
// With both k at 0 these bits are a plain bitmap, so that the map never takes more bits than it spans offsets: each pattern of
// 25,000 offsets fits into 4,096 bytes, with the stamp. How much it takes at most otherwise is told at [Tracker.Bound].
//
// # What is not ours
//
// A text of another client, of a later version, with a bad checksum, or with a frontier other than the committed offset (the group's
// offsets were reset by hand) has no map for us: what lies beyond the committed offset runs again. Other clients ignore the text, and
// run again what is finished beyond the offset that they read; nothing is skipped either way.
package offset

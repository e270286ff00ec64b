// Package assign decides which member of a group gets which partition, without taking one from a member in the middle of a task, and
// writes down what members and leader tell each other about it.
//
// It is pure: no goroutine, no clock, no lock, no sarama. The balance strategy around it converts.
//
// # The plan
//
// [Decide] makes a plan out of what the members say in one round. The leader keeps nothing of it from one round to the next: the next
// leader may be another member. What has to last, the hand-over marks, comes back in the members' reports.
//
//   - An owner. A partition is its member's who got it in the highest generation. A claim of the same generation by two cannot be
//     judged: one gets the partition, the one that runs a task there if there is such, and its task begins again, for nobody can say
//     whether the other one has gone further. The others lose it with this assignment.
//   - Busy stays. A partition on which somebody runs a task stays with its owner in this round, also where the task is another member's
//     who has lost the partition. No option changes that: past the hold limit the owner is told to stop, and reports the partition idle when
//     the task has returned. A leader that moved it would start the next task beside the old one.
//   - Idle ones follow the balance. It is the sum of n*n/slots over the members: best where each has its share by slots, within one
//     partition. Nothing moves that does not make it better, and where members subscribe to different topics partitions also move in
//     chains, from one that has too much to one with which it has no topic in common.
//   - A claim is waited for. A partition whose owner gives it up is withheld in this round if some other member's subscription says that it
//     has a claim there: that one revokes it, and joins again by itself. It does not matter of which protocol the leader is.
//   - Marks. The balance is then made once more as if nothing ran, and the busy partitions that move in it are to be handed over. What
//     is marked already goes first, and only what is not enough with it is marked anew: else each round would mark other partitions, those of
//     before would be busy again, and a newcomer would get nothing. A task past the limit is marked last, for its mark stops it; nothing
//     comes of a mark where a task does not return, nor where the owner is idle and the task another member's: these are not marked.
//   - Draining members get nothing. What is idle there goes at once, what is busy is marked, with the same exceptions, and stopped by nobody but
//     its owner. Where nobody else may have a topic all of it stays.
//   - Whoever says nothing that can be read is idle, and owns what its subscription says.
//   - A report of an older generation than others is of an earlier round (a static member that does not join stays in the group). What
//     it owned may be busy by now, so it counts as busy.
//
// Planning again with nothing changed changes nothing, marks included: the marks are chosen so that they, taken by themselves, would all
// be chosen again. The order in which members, topics and partitions come does not matter.
//
// # What is not here, and why
//
//   - An age of tasks. In a report it would be a clock: a join that is repeated because its answer was lost would carry other bytes,
//     and throw the round away. The owner judges: a task runs, is past the limit, or does not return. So the leader does not time the
//     limit a second time either; it would have to remember.
//   - The hold limit. It is the owner's. Without one ("0"), it reports no partition as busy, and is then treated as any group treats it.
//   - The protocol, eager or cooperative. What a member has is in its subscription (cooperative) or in its report, and the rule of
//     waiting for claims does the rest.
//   - The group's size and "static" in a report. No rule reads them; the size is in the assignment, for those that warn.
//   - A version of the rules. Once there is a second one a section tells it, and without the section it is this one.
//
// # Data
//
// Both kinds begin alike:
//
//	bytes 0 to 3         keel
//	byte 4               m: a member's report, in its subscription; a: the leader's word to a member, in its assignment
//	byte 5               the version, 1
//	bytes 6 to 9         CRC-32C, big endian, of the topics in order, each behind with a zero byte, and of all that follows
//
// The topics are those of the subscription, or of the assignment, sorted and each once. They are not written: sets name them by index, and
// the checksum tells whether both sides mean the same ones. A uvarint is that of encoding/binary, here below 2^63.
//
// A report goes on with:
//
//	byte 10              flags: 1 draining, 2 ghost, 4 stamps, 8 the section of busy partitions was cut short
//	bytes 11 to 18       owner id, big endian
//	uvarint              generation of the last assignment received under the present member id, 0 for none
//	uvarint              since when all stamp, as that assignment has said; 0 for not
//	uvarint              requests: rises by one for each round that the member asks for, since a follower's join counts only with new data
//	uvarint              slots, 0 for unknown
//	sections             1 busy, 2 marked, 3 past the limit, 4 stuck, 5 owned
//
// An assignment goes on with:
//
//	byte 10              flags: 1 the member drains
//	uvarint              members of the group, ghosts aside
//	uvarint              since when all stamp; 0 for not
//	sections             1 to hand over, 2 to stop
//
// A section:
//
//	byte                 tag
//	uvarint              length of the content
//	for each topic that has a set, in order:
//	  uvarint            how many topics lie between it and the one before
//	  uvarint            length of the set, times 2; plus 1 for a bitmap
//	  uvarint            the first partition
//	  list               uvarints: for each further partition, how many lie between it and the one before
//	  bitmap             bits from the first partition's successor on; bytes are filled from the lowest bit to the highest
//
// The shorter form is taken, so that a set never takes more than a bit for each partition that it spans. The same state gives the same bytes.
//
// # Bounds
//
// Data is at most [MaxData] long. Sections are written in the order above; of each, as many topics as there is room for, and what
// does not fit is left out. Without all busy partitions, a flag says so, and all that the member owns counts as busy. That takes 130,000
// busy partitions, or thousands of topics with some; the group's record on the broker, 1 MB for all members, is full long before.
// Marks that are left out are chosen anew, a stop waits for a later round, and what an eager member owned without running anything
// may move to another one.
//
// # What can be read
//
// Flags and sections that a reader does not know are passed over, so that they may be added without a new version. Of another version,
// of another writer, damaged, or for other topics, data says nothing. Each section is there at most once.
//
// Assignment data is never empty: a group without any may be taken over by a member of the newer protocol (KIP-848).
//
// # Since when all stamp
//
// Whoever starts anything on a partition writes its stamp into the partition's commit before (see internal/offset). A member that
// has missed generations may then go on with its tasks where it finds its own stamp, if in each generation that it missed all members
// were of that kind. That all are so now does not tell: one that is not may have come, run something, committed nothing and
// left. So the leader says since which generation it has been so. It knows that from the reports: one that was in the generation
// before brings what was said there. Where rounds follow so fast that no assignment of that generation has reached anybody, a leader that
// has led it itself vouches for it, see [Plan.Vouch]; it has seen all its members. If neither is so, or the leader was of another kind, it
// begins anew. See [Assignment.StampedFrom].
package assign

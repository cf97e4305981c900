// The invariants that SaucrChecker checks: Raft's, the ones of document 003, and the rules of
// elections and of modes. R1 to R33 are the rules of lab 6's handout.
#pragma once

#include <cstdint>
#include <string>

namespace depfast::saucr {

enum class Invariant : std::uint8_t {
  kElectionSafety,      // at most one leader a term
  kLeaderAppendOnly,    // a leader never changes entries of its log
  kLogMatching,         // the same term and index: the same command, and the same before it
  kLeaderCompleteness,  // a leader's log has every entry committed in earlier terms
  kStateMachineSafety,  // no two replicas apply different commands at an index; none skips one
  kMonotonic,           // term and commit index never go back
  kOneVote,             // a replica votes once a term
  kLeaderHasVotes,      // a leader has received granted votes of its term from a majority
  kTermOnDisk,          // terms and votes are on the disk before they are told (R24)
  kCommitted,    // a leader commits an entry of its term, by f + 2 memories or f + 1 disks (R3)
  kMarked,       // a fast answer leaves when the markers say that a crash loses something, or
                 // when it would lose nothing (R11, R13)
  kMarkersTrue,  // a disk that says that nothing was lost has all that was acknowledged (R12)
  kPersisted,    // a slow answer leaves when entries and map are on the disk, and an answer
                 // tells of no entry on the disk that is not there (R2, R18)
  kSilent,       // a recovering replica grants, acknowledges and answers nothing (R20)
  kLle,          // an LLE is never behind what the replica had logged (R21, R25)
  kGoForward,    // the maps and the lives that a replica sends never go back (R16, R17, R22)
  kLivesOnDisk,  // a life is on the disks of asker and asked before it is told (R17)
  kDataFirst,    // a leader that is not whole sends no entries (R29)
  kElections,    // terms begin by campaigns, after pre-votes and a timeout (R9, R26)
  kNaming,       // a round's map names only replicas to which the round is sent (R15)
  kModes,        // slow after a beat of a majority or fewer, fast after three of more (R6, R7)
};

// Whether a violation may lose or change data. The others are about progress and speed.
bool IsSafety(Invariant invariant);

// "leader completeness": the name that a report prints.
const char* ToString(Invariant invariant);

// "R3 of lab 6's handout": the rules that ask for it.
std::string HandoutRule(Invariant invariant);

}  // namespace depfast::saucr

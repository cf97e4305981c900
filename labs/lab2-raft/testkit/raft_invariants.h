// The invariants that RaftChecker checks: those of Raft's figure 3, the durability that they rest
// on, and the rules of elections.
#pragma once

#include <string>

namespace depfast::raft {

enum class Invariant {
  kElectionSafety,         // at most one leader per term
  kLeaderAppendOnly,       // a leader never changes or removes entries of its log
  kLogMatching,            // the same index and term: the same command, and the same before it
  kLeaderCompleteness,     // a leader's log has every entry committed in earlier terms
  kStateMachineSafety,     // no two replicas apply different commands at an index; none skips one
  kMonotonicTerm,          // a replica's term never goes back, not even by a crash
  kMonotonicCommit,        // nor does its commit index, while it lives
  kOneVotePerTerm,         // nor does it vote for two candidates in a term
  kDurability,             // a replica promises only data that are on its disk
  kCommitNeedsMajority,    // an entry is committed only when a majority has it on disk, and has
                           // told the leader
  kSnapshotIsTheState,     // a snapshot is the state after the committed entry that it names
  kCommitsOwnTerm,         // a leader commits by counting only entries of its own term
  kLeaderHasVotes,         // a leader has received granted votes of its term from a majority
  kElectionRestriction,    // a vote goes only to a candidate whose log is as up to date as the
                           // voter's
  kTermsBeginByCampaign,   // a replica adopts no term that no candidate has begun
  kCampaignHasPreVotes,    // a candidate has received granted pre-votes of its term from a majority
  kLeaderIsKept,           // no replica grants a pre-vote while it knows of a live leader; none
                           // takes the entries of one and stays a candidate
  kElectionTimeoutPassed,  // no replica campaigns before kElectionTimeoutMin without a leader
  kToldTermIsDurable,      // an answer that grants and takes nothing has a term that is on the disk
};

// Whether a violation may lose or change data. The others are rules of elections that keep a
// cluster available.
bool IsSafety(Invariant invariant);

// "election safety": the name that a report prints.
const char* ToString(Invariant invariant);

// "rule 4 of lab 2's handout": the rule that asks for it.
std::string HandoutRule(Invariant invariant);

}  // namespace depfast::raft

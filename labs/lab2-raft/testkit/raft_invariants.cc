#include "raft_invariants.h"

namespace depfast::raft {

bool IsSafety(Invariant invariant) {
  switch (invariant) {
    case Invariant::kTermsBeginByCampaign:
    case Invariant::kCampaignHasPreVotes:
    case Invariant::kLeaderIsKept:
    case Invariant::kElectionTimeoutPassed:
    case Invariant::kToldTermIsDurable:
      return false;
    default:
      return true;
  }
}

namespace {

int RuleOf(Invariant invariant) {
  switch (invariant) {
    case Invariant::kTermsBeginByCampaign:
    case Invariant::kCampaignHasPreVotes:
    case Invariant::kLeaderIsKept:
    case Invariant::kElectionTimeoutPassed:
      return 2;
    case Invariant::kDurability:
    case Invariant::kMonotonicTerm:
    case Invariant::kOneVotePerTerm:
    case Invariant::kToldTermIsDurable:
      return 4;
    case Invariant::kSnapshotIsTheState:
      return 8;
    default:
      return 1;  // those of figures 2 and 3
  }
}

}  // namespace

std::string HandoutRule(Invariant invariant) {
  return "rule " + std::to_string(RuleOf(invariant)) + " of lab 2's handout";
}

const char* ToString(Invariant invariant) {
  static constexpr const char* kNames[] = {
      "election safety",          "leader append-only",      "log matching",
      "leader completeness",      "state machine safety",    "monotonic term",
      "monotonic commit",         "one vote per term",       "durability",
      "commit needs a majority",  "a snapshot is the state", "a leader commits its own term",
      "a leader has votes",       "election restriction",    "terms begin by a campaign",
      "a campaign has pre-votes", "a live leader is kept",   "an election timeout passes",
      "a told term is durable",
  };
  return kNames[static_cast<int>(invariant)];
}

}  // namespace depfast::raft

// The messages of SAUCR's elections. Given, not submitted: see saucr_messages.h.
#pragma once

#include "depfast/fields.h"
#include "saucr_messages.h"

namespace depfast::saucr {

// A follower campaigns after an election timeout, drawn anew for each wait. At longer beats the
// least is kElectionBeats of them, and the most twice the least.
inline constexpr Duration kElectionTimeoutMin = 150ms;
inline constexpr Duration kElectionTimeoutMax = 300ms;
inline constexpr int kElectionBeats = 5;

struct RequestVoteReply {
  std::uint64_t term = 0;  // the replier's own, also in the answer to a pre-vote
  bool granted = false;
  LleMap map;  // the voter's (R19); of a vote that is granted alone
  DEPFAST_FIELDS(term, granted, map)
};

struct RequestVote {
  using Reply = RequestVoteReply;
  static constexpr MethodId kMethod = 1;
  static constexpr const char* kName = "RequestVote";

  std::uint64_t term = 0;
  PeerId candidate = kNobody;
  EntryId lle;  // the recovered LLE, or the last entry of the log, whichever is ahead (R25)
  // Asks whether a vote would be granted in `term`, the candidate's next, and changes nothing
  // (R26).
  bool pre_vote = false;
  DEPFAST_FIELDS(term, candidate, lle, pre_vote)
};

}  // namespace depfast::saucr

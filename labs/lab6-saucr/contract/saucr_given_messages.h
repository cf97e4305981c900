// The messages of SAUCR that the given half alone sends and answers: of elections, and of logs that
// are copied. Given, not submitted: see saucr_messages.h.
//
// A reply leaves when the term that it names is on the disk. Tests also send messages on behalf of
// a replica: `candidate` and `leader` say whose a message is, not the connection that it comes
// from.
#pragma once

#include "saucr_messages.h"

namespace depfast::saucr {

using raft::InstallSnapshot;
using raft::InstallSnapshotReply;

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

// The most bytes of entries, or of a snapshot, in a catch-up request or in a reply.
inline constexpr std::size_t kChunkBytes = std::size_t{64} << 10;

struct FetchLogReply {
  std::uint64_t term = 0;  // if it is above the request's, the rest says nothing
  EntryId last;            // of the replier's log
  bool is_whole = false;   // its log has reached its recovered LLE, if it has one
  // With data wanted: the entry before `entries`, which begin at `first`. If the replier no longer
  // has entry `first`: the last entry of its snapshot, of which `state` is a part.
  EntryId base;
  std::vector<LogEntry> entries;
  std::uint64_t state_bytes = 0;  // of the whole snapshot
  std::string state;              // from the request's offset on
  DEPFAST_FIELDS(term, last, is_whole, base, entries, state_bytes, state)
};

// A new leader that is not whole looks for its data (R29). The receiver adopts the term, as from a
// leader that has entries to send.
struct FetchLog {
  using Reply = FetchLogReply;
  static constexpr MethodId kMethod = 31;
  static constexpr const char* kName = "FetchLog";

  std::uint64_t term = 0;
  PeerId leader = kNobody;
  EntryIndex first = 0;      // entries from here on are wanted; 0: none, only where the log ends
  std::uint64_t offset = 0;  // of the snapshot's state that is wanted
  DEPFAST_FIELDS(term, leader, first, offset)
};

}  // namespace depfast::saucr

// The message of a hand-over, and its times. Given, not submitted: tests read and send these
// frames.
//
// Ongaro, "Consensus: Bridging Theory and Practice", section 3.10 (leadership transfer). It is a
// method of its own, so the frames of labs 2 to 5 stay as they are.
#pragma once

#include <cstdint>

#include "depfast/host/frame.h"
#include "depfast/peer.h"
#include "depfast/time.h"

namespace depfast::raft {

// A leader waits for its successor's log for at most this time (H2).
inline constexpr Duration kDrainMax = 300ms;
// A leader that hears of no newer term for this time after its message serves again (H3).
inline constexpr Duration kTakeOverMax = 600ms;
// The rest after a hand-over (H5). It doubles with each one, up to kRestMax. After kRestForgotten
// without one the next rest is kRestMin again.
inline constexpr Duration kRestMin = 10s;
inline constexpr Duration kRestMax = 80s;
inline constexpr Duration kRestForgotten = 160s;

struct TimeoutNowReply {
  bool campaigns = false;  // the replica begins a campaign; false: the message changes nothing
  DEPFAST_FIELDS(campaigns)
};

// Asks a follower to campaign at once, without pre-votes (H4). As in lab 2, `leader` says whose the
// message is.
struct TimeoutNow {
  using Reply = TimeoutNowReply;
  static constexpr MethodId kMethod = 147;
  static constexpr const char* kName = "TimeoutNow";

  std::uint64_t term = 0;
  PeerId leader = kNobody;
  std::uint64_t last_index = 0;  // the last entry that the leader has committed
  DEPFAST_FIELDS(term, leader, last_index)
};

}  // namespace depfast::raft

// The decisions of a hand-over (lab 7, part 7D). The rules are H1 to H6 of the handout. No given
// code uses this file: your raft.cc does, or you leave the file as it is.
#pragma once

#include <cstdint>
#include <span>

#include "depfast/peer.h"
#include "depfast/time.h"
#include "handover_messages.h"
#include "levels.h"

namespace depfast::adr {

// A follower, as its leader knows it.
struct Follower {
  PeerId peer = kNobody;
  std::uint64_t match_index = 0;  // it has the leader's log up to here, durably
  Duration round_trip{0};
};

// H1: the follower that is to lead next; kNobody if no one can do better. `reports`: of the peers,
// in any order. `commit_index`: the last committed entry of `replicas` replicas.
PeerId Successor(std::span<const Follower> followers, std::span<const PeerReport> reports,
                 std::uint64_t commit_index, int replicas);

// H5: the rest between hand-overs that this replica has sent or obeyed.
class Rest {
 public:
  bool IsOver(Time now) const;
  // A hand-over begins now.
  void Begin(Time now);
};

}  // namespace depfast::adr

// The two decisions of a hand-over: its successor (H1) and its time (H5). The Raft asks, and acts.
#pragma once

#include <cstdint>
#include <span>

#include "depfast/peer.h"
#include "depfast/time.h"
#include "levels.h"

namespace depfast::adr {

// A follower, as its leader knows it.
struct Follower {
  PeerId peer = kNobody;
  std::uint64_t match_index = 0;  // it has the leader's log up to here, durably
  Duration round_trip{0};
};

// The follower that is to lead next; kNobody if no one can do better. `reports`: of the peers, in
// any order. `commit_index`: the last committed entry of `replicas` replicas.
PeerId Successor(std::span<const Follower> followers, std::span<const PeerReport> reports,
                 std::uint64_t commit_index, int replicas);

// The rest between hand-overs that this replica has sent or obeyed.
class Rest {
 public:
  bool IsOver(Time now) const { return now >= until_; }
  // A hand-over begins now.
  void Begin(Time now);

 private:
  Duration length_{0};  // of the latest; 0 before the first
  Time until_{0};       // its end
};

}  // namespace depfast::adr

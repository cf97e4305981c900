// WaitDescription: an event's wait as verification, statistics, recordings and reports read it.
//
// A wait on one peer inherits the slowness of that peer; a wait on a quorum does not. The slowness
// propagation graph (document 001, section 3.3) therefore needs the peers of a wait by name, and
// the vote of each. So does the quorum history (document 000, section 4.3.1).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "depfast/peer.h"

namespace depfast {

// The vote of a peer, or of a voter of a quorum. A reject and a missing answer are different cases
// (document 002, section 2.1): the first is an answer, the second may be a sign of a slow peer.
enum class Vote : std::uint8_t {
  kPending = 0,  // no answer yet
  kLost = 1,     // the answer will not come: the call failed, timed out or was released
  kNo = 2,       // the answer is a reject
  kYes = 3,      // the answer agrees
};

const char* ToString(Vote vote);

struct WaitDescription {
  struct Peer {
    PeerId id = 0;
    Vote vote = Vote::kPending;

    friend bool operator==(const Peer&, const Peer&) = default;
  };

  int needed = 1;           // the number of answers that end the wait
  int total = 1;            // the number of answers asked for; "1 of 1" is a wait on one thing
  std::vector<Peer> peers;  // each once, ascending by id; empty if the wait is on no peer

  // Adds a peer. A peer that is there already keeps the smaller vote in the order of Vote: it is
  // pending while one of its answers is.
  void Include(PeerId peer, Vote vote);

  // Adds the peers of a child, with their votes.
  void Include(const WaitDescription& child);

  // Adds the peers of a child that votes as a whole. A child with one peer gives this peer its
  // vote. In a child with several, a nested quorum for example, each peer has its own.
  void Include(const WaitDescription& child, Vote vote);
};

// "1 yes, 2 lost, 3 pending"; empty without peers.
std::string DescribePeers(const WaitDescription& wait);

}  // namespace depfast

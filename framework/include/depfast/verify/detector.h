// Detector: looks for fail-slow faults in a replica's activity (document 002, appendix A.2).
//
//   class TooManyTimeouts final : public Detector {
//     std::vector<Finding> OnWindow(const ActivityWindow& window) override {
//       std::vector<Finding> findings;
//       for (const PeerActivity& peer : window.peers) {
//         if (peer.timeouts > 10) findings.push_back({peer.peer, "more than 10 timeouts"});
//       }
//       return findings;
//     }
//   };
#pragma once

#include <string>
#include <vector>

#include "depfast/peer.h"
#include "depfast/verify/activity.h"

namespace depfast {

// A suspicion, not a proof: a fault and an unlucky window may look alike.
struct Finding {
  PeerId peer = kNobody;  // the peer that is slow; kNobody: the finding is about no single peer
  std::string what;       // for people: one line
};

class Detector {
 public:
  virtual ~Detector() = default;

  // Called once for each window of one replica, in their order: a window begins where the one
  // before it ended. Returns what is wrong in this window, at most one finding for each peer.
  virtual std::vector<Finding> OnWindow(const ActivityWindow& window) = 0;
};

}  // namespace depfast

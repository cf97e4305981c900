// WaitSpikeDetector: finds the peers that suddenly answer slowly (document 002, appendix
// A.2). A slow peer shows in the waits for it long before it counts as dead.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "depfast/peer.h"
#include "depfast/verify/detector.h"

namespace depfast {

class WaitSpikeDetector final : public Detector {
 public:
  // Returns a finding for each peer that has a spike in this window, and none for another peer.
  // The figures are those of contract/wait_spikes.h.
  //
  // The waits of a peer are its `ended` and its `open` ones together: an open wait counts with its
  // time so far, or a peer that falls silent would never be found. Their mean is the peer's wait in
  // the window. With fewer than kLeastWaits of them the window is no evidence about the peer: it
  // has no spike, and nothing is learned. Its usual wait stays what it was, however long that
  // lasts.
  //
  // A spike is a wait that is too long in two comparisons.
  // - With the peer's own past: more than kFactor times its usual wait. Peers differ: one may be in
  //   another city.
  // - With the other peers: the peer's wait, divided by the shortest wait of another peer in the
  //   same window, is its ratio. In a spike it is more than kFactor times the usual ratio. A change
  //   of load lengthens the waits for all peers alike, as it lengthens the queues of this replica.
  //   It is not a spike: no peer is to blame. A window without evidence about another peer is none
  //   about this one.
  //
  // "Usual" is the median over the peer's latest kRemembered windows that were evidence and no
  // spike. Another average will do if it follows a lasting change of load within so many windows.
  // A peer with fewer than kWarmUp such windows has no spike: the first calls open connections and
  // fill caches. Each peer has a warm-up of its own, and several peers may have a spike at the same
  // time. After a spike the peer is judged like any other.
  std::vector<Finding> OnWindow(const ActivityWindow& window) override;

 private:
  // The latest windows that were evidence about a peer and no spike; latest last, equal in size.
  struct Past {
    std::deque<std::int64_t> waits;   // nanoseconds
    std::deque<std::int64_t> ratios;  // in thousandths

    bool IsSpike(std::int64_t wait, std::int64_t ratio) const;
  };

  std::map<PeerId, Past> past_;
};

}  // namespace depfast

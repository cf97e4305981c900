// HealthView: what a replica knows of slow replicas, itself included. Given, not submitted.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "depfast/disk_event.h"
#include "depfast/peer.h"
#include "depfast/time.h"
#include "levels.h"

namespace depfast::adr {

// The answers may change with each step of the replica.
class HealthView {
 public:
  virtual ~HealthView() = default;

  // The answer of Diagnose.
  virtual Suspicion suspicion() const = 0;
  // The latest report of each peer that has sent one, in any order; old ones are among them.
  virtual std::vector<PeerReport> reports() const = 0;
  // The usual round trip to the peer; 0 if it is not known.
  virtual Duration round_trip(PeerId peer) const = 0;

  // Measures the disk by a write of `bytes` that has just begun, and syncs. Returns the write.
  virtual std::shared_ptr<DiskEvent> MeasureSync(std::shared_ptr<DiskEvent> write,
                                                 std::size_t bytes) {
    (void)bytes;
    return write;
  }
};

}  // namespace depfast::adr

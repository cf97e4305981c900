// Planted windows: what a test of your detector shows it, as data.
//
// A test cannot call your detector: it runs in another process. It sends windows to replica 0. The
// driver there gives them to detectors, and answers with the peers of their findings.
#pragma once

#include <cstdint>
#include <vector>

#include "depfast/host/frame.h"
#include "depfast/peer.h"
#include "depfast/verify/activity.h"

namespace depfast::lab4 {

// The peers of the findings, by stream and window, as the detector named them.
struct WatchReport {
  std::vector<std::vector<std::vector<PeerId>>> found;
  DEPFAST_FIELDS(found)
};

// Each stream has a detector of its own. All detectors see their first windows, then all see their
// second ones, and so on.
struct WatchWindows {
  using Reply = WatchReport;
  static constexpr MethodId kMethod = 103;
  static constexpr const char* kName = "WatchWindows";
  std::vector<std::vector<ActivityWindow>> streams;
  DEPFAST_FIELDS(streams)
};

}  // namespace depfast::lab4

// LatencyEstimate: how long something usually takes, from how long it has taken (RFC 6298). Given,
// not submitted.
//
// The patience before a takeover is a multiple of it. A fixed one is too long for a near cluster,
// where a slow pilot then delays each command by it, and too short for a distant one.
#pragma once

#include <algorithm>

#include "depfast/time.h"

namespace depfast::copilot {

class LatencyEstimate {
 public:
  explicit LatencyEstimate(Duration first) : smoothed_(first), deviation_(first / 2) {}

  void Add(Duration took) {
    const Duration error = took > smoothed_ ? took - smoothed_ : smoothed_ - took;
    deviation_ += (error - deviation_) / 4;
    smoothed_ += (took - smoothed_) / 8;
  }

  // Few take longer.
  Duration Usual() const { return smoothed_ + 4 * deviation_; }

 private:
  Duration smoothed_;
  Duration deviation_;
};

}  // namespace depfast::copilot

// StaticPair: the detector that most systems have, to compare with (document 004, figure 7).
#pragma once

#include <cstddef>
#include <deque>

#include "depfast/time.h"

namespace depfast::adr {

// Two thresholds, and the number of warnings in a minute that is as bad as the second one.
struct StaticThresholds {
  Duration warn = 100ms;
  Duration fatal = 10s;
  std::size_t warnings_max = 100;
};

// The vanilla thresholds of HBase (document 004, Table 3) are the defaults of StaticThresholds.
class StaticPair {
 public:
  explicit StaticPair(const StaticThresholds& thresholds) : thresholds_(thresholds) {}

  // An operation ended now and took `value`. True if that is fatal. `now` never goes back.
  bool IsFatal(Time now, Duration value) {
    if (value > thresholds_.warn) warnings_.push_back(now);
    while (!warnings_.empty() && warnings_.front() <= now - 60s) warnings_.pop_front();
    return value > thresholds_.fatal || warnings_.size() > thresholds_.warnings_max;
  }

 private:
  const StaticThresholds thresholds_;
  std::deque<Time> warnings_;  // of the last minute
};

}  // namespace depfast::adr

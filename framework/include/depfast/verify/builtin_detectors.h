// The detectors that come with the runtime (document 002, appendix A.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "depfast/time.h"
#include "depfast/verify/detector.h"

namespace depfast {

// Finds a processor that does not run the replica although it has work: it is slow, or others use
// it. A step never blocks, so a step takes what it costs on a processor of its own.
//
// It misses a fault that also lengthens the replica's sleep, and it warns on a shared machine that
// is merely busy. The document says so, too.
class OccupancyDetector final : public Detector {
 public:
  // Below this share of the time of its steps a replica is found slow. Half: a machine that runs
  // one other program at the same time is not yet faulty.
  static constexpr int kLeastPercent = 50;
  // A window with less time in steps than this says nothing: the clock's noise is as large.
  static constexpr Duration kLeastTime = 1ms;

  std::vector<Finding> OnWindow(const ActivityWindow& window) override;
};

// Finds waits for one event that are much longer than ever lately: "disk", say.
//
// The event is named because a wait for work is long whenever there is none. A change of load can
// look like a spike here: lab 4's detector tells them apart.
class EventSpikeDetector final : public Detector {
 public:
  // A spike is longer than this many times the longest wait of the windows before it.
  static constexpr int kFactor = 4;
  // The number of windows with such waits that are remembered, and the number needed first.
  static constexpr std::size_t kRemembered = 20;
  static constexpr std::size_t kWarmUp = 5;

  explicit EventSpikeDetector(std::string event) : event_(std::move(event)) {}

  std::vector<Finding> OnWindow(const ActivityWindow& window) override;

 private:
  const std::string event_;
  std::map<std::string, std::deque<std::int64_t>> worst_ns_;  // by coroutine, latest last
};

// Finds waits for one event that are longer than a limit in several windows, one after another.
class EventThresholdDetector final : public Detector {
 public:
  // Requires: limit >= 0; windows > 0.
  EventThresholdDetector(std::string event, Duration limit, int windows)
      : event_(std::move(event)), limit_(limit), windows_(windows) {}

  std::vector<Finding> OnWindow(const ActivityWindow& window) override;

 private:
  const std::string event_;
  const Duration limit_;
  const int windows_;
  std::map<std::string, int> in_a_row_;  // by coroutine: windows with a wait beyond the limit
};

}  // namespace depfast

// Load: closed- and open-loop clients in virtual time, and their measurements.
//
// In a closed loop each client waits for its answer; this hides lost capacity and the queue behind
// a slow answer. In an open loop arrivals do not wait; this shows both. Measurements use the open
// loop, and the closed loop only to find a system's capacity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "depfast/host/random.h"
#include "depfast/time.h"
#include "sim/simulator.h"

namespace depfast::testkit {

// Latencies, exact: every sample is kept.
class LatencyRecorder {
 public:
  void Add(Duration latency) { samples_.push_back(latency); }

  std::size_t count() const { return samples_.size(); }
  // All of the following are zero without samples.
  Duration Mean() const;
  // The smallest sample that `permille` of all samples do not exceed (nearest rank).
  Duration Percentile(int permille) const;
  // Coefficient of variation: standard deviation / mean. For reports only.
  double Variation() const;

 private:
  std::vector<Duration> samples_;
};

// Starts one operation; must call its argument once, later: true when the operation took effect.
using Operation = std::function<void(std::function<void(bool ok)> done)>;

struct LoadResult {
  LatencyRecorder latencies;    // of operations that took effect, begun and ended in the window
  std::uint64_t completed = 0;  // operations that took effect in the window, whenever they began
  std::uint64_t failed = 0;     // operations that failed, inside the window or not
};

// Issues operations during [start, to) and records those that end inside the window [from, to).
struct LoadWindow {
  Time start{0};
  Time from{0};
  Time to{0};
};

// `clients` loops, each starting its next operation when the last has ended. Must outlive the run.
class ClosedLoop {
 public:
  ClosedLoop(sim::Simulator& simulator, Operation operation, int clients, LoadWindow window);
  ClosedLoop(const ClosedLoop&) = delete;
  ClosedLoop& operator=(const ClosedLoop&) = delete;
  const LoadResult& result() const { return result_; }

 private:
  void Next();

  sim::Simulator& simulator_;
  Operation operation_;
  LoadWindow window_;
  LoadResult result_;
};

// Arrivals at a fixed rate, each moved by up to half an interval either way: without the jitter,
// arrivals fall into step with timers and batches. Must outlive the run.
class OpenLoop {
 public:
  // Requires: operations_per_second > 0.
  OpenLoop(sim::Simulator& simulator, Operation operation, std::int64_t operations_per_second,
           LoadWindow window, RandomStream stream);
  OpenLoop(const OpenLoop&) = delete;
  OpenLoop& operator=(const OpenLoop&) = delete;
  const LoadResult& result() const { return result_; }

 private:
  void ScheduleNext();

  sim::Simulator& simulator_;
  Operation operation_;
  Duration interval_;
  LoadWindow window_;
  RandomStream stream_;
  std::int64_t issued_ = 0;
  LoadResult result_;
};

}  // namespace depfast::testkit

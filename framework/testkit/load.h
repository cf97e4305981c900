// Load: closed- and open-loop clients in virtual time, and their measurements.
//
// In a closed loop each client waits for its answer; this hides lost capacity and the queue behind
// a slow answer. In an open loop arrivals do not wait; this shows both. Measurements that carry
// points use the open loop alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
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

// Issues operations during [start, to), and measures in the window [from, to).
struct LoadWindow {
  Time start{0};
  Time from{0};
  Time to{0};
};

inline constexpr Duration kCompletionsSlot = 100ms;

// The figures of a load until an end. An operation without effect until then is unanswered: it
// counts with the time from its begin to the end, so that no load looks fast by not answering.
struct LoadResult {
  std::uint64_t offered = 0;      // operations begun in the window
  std::uint64_t unanswered = 0;   // of `offered`: failed, or without effect until the end
  std::uint64_t passed_over = 0;  // of `unanswered`: a later one took effect until the end
  LatencyRecorder latencies;      // of all that were offered
  std::uint64_t completed = 0;    // operations that took effect in the window, whenever they began
  std::vector<std::uint64_t> completions;  // the same, for each kCompletionsSlot of the window
  // In the same slots: the latencies of the operations offered that took effect there.
  std::vector<std::vector<Duration>> slots;
  // In the same slots: the mean latency of the operations offered that began there; zero for none.
  std::vector<Duration> means;
};

// Runs the operations of a load, and records their outcomes. Must outlive the run.
class LoadRecorder {
 public:
  LoadRecorder(sim::Simulator& simulator, Operation operation, LoadWindow window)
      : simulator_(simulator), operation_(std::move(operation)), window_(window) {}
  LoadRecorder(const LoadRecorder&) = delete;
  LoadRecorder& operator=(const LoadRecorder&) = delete;

  // Begins one operation now. Calls `then`, unless it is null, when the operation has ended.
  void Begin(std::function<void()> then);

  std::uint64_t completed() const { return completed_; }
  // Requires: window.to <= end <= now.
  LoadResult ResultAt(Time end) const;

 private:
  struct Offered {
    Time begun{0};
    Time effective = kNever;  // when it took effect
  };

  bool IsMeasured(Time when) const { return when >= window_.from && when < window_.to; }
  void OnEffect(std::optional<std::size_t> offered);

  sim::Simulator& simulator_;
  const Operation operation_;
  const LoadWindow window_;
  std::vector<Offered> offered_;
  std::uint64_t completed_ = 0;
  std::vector<std::uint64_t> completions_;  // up to the last slot that is not empty
};

// `clients` loops, each starting its next operation when the last has ended. Must outlive the run.
class ClosedLoop {
 public:
  ClosedLoop(sim::Simulator& simulator, Operation operation, int clients, LoadWindow window);

  std::uint64_t completed() const { return recorder_.completed(); }
  // See LoadRecorder.
  LoadResult ResultAt(Time end) const { return recorder_.ResultAt(end); }

 private:
  void Next();

  sim::Simulator& simulator_;
  LoadWindow window_;
  LoadRecorder recorder_;
};

// Arrivals at a fixed rate, each moved by up to half an interval either way: without the jitter,
// arrivals fall into step with timers and batches. Must outlive the run.
class OpenLoop {
 public:
  // `interval`: the mean time between two arrivals. Requires: interval > 0.
  OpenLoop(sim::Simulator& simulator, Operation operation, Duration interval, LoadWindow window,
           RandomStream stream);

  // See LoadRecorder.
  LoadResult ResultAt(Time end) const { return recorder_.ResultAt(end); }

 private:
  void ScheduleNext();

  sim::Simulator& simulator_;
  const Duration interval_;
  const LoadWindow window_;
  RandomStream stream_;
  std::int64_t issued_ = 0;
  LoadRecorder recorder_;
};

}  // namespace depfast::testkit

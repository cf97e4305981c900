// Vitals: the variables that a replica measures of itself, each with a detector of the student.
// Given, not submitted.
//
// The work of an update is what the replica has done since the update before: a unit for each byte
// written to its log, and for each microsecond of processor time. Bytes grow as the number of
// client commands does, and group commit does not change that. Processor time alone would fall at
// saturation, as larger batches cost less. But it tells a leader's load from a follower's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "adaptive_threshold.h"
#include "depfast/processor_meter.h"
#include "depfast/time.h"
#include "levels.h"
#include "static_pair.h"

namespace depfast::adr {

// Vitals tick, and slices of the processor end, at this interval.
inline constexpr Duration kTickInterval = 100ms;

// One variable: its detector, and its level.
class Vital {
 public:
  Vital() = default;
  // Written out, so that this class has one whether or not the student's has one.
  ~Vital();
  Vital(const Vital&) = delete;
  Vital& operator=(const Vital&) = delete;

  void Update(Time now, Duration value, int work);
  void Tick(Time now, std::optional<Time> oldest_under_way);
  void SetSaturated(bool saturated) { detector_.SetSaturated(saturated); }
  Level level() const { return level_; }
  // The latest one, or the age of an operation under way; nothing before the first.
  std::optional<Duration> value() const { return value_; }
  const AdaptiveThreshold& detector() const { return detector_; }

 private:
  void SetLevel(bool is_slow, Duration value);

  const StaticThresholds static_ = {};
  AdaptiveThreshold detector_{AdrOptions{}};
  Level level_ = Level::kWell;
  std::optional<Duration> value_;
};

// The value of a slice: the time that a millisecond of work took in its steps. Load does not change
// that, so each slice is one piece of work. Work costs a millisecond on another processor, about
// which nothing is known: a usual value may be 20 us or 20 ms.
class ProcessorVital {
 public:
  explicit ProcessorVital(const ProcessorMeter& meter) : meter_(meter) {}

  // The value of steps with this time and cost. It is rounded to `first`, the one of the first
  // slice, times a power of two: up from 1.25 times the lower one. Beside other programs it drifts,
  // and no command notices. Requires: cost > 0, first > 0.
  static Duration Value(Duration took, Duration cost, Duration first);
  // The value of the first slice, of which all others are powers of two. Up to four times a
  // millisecond it is that: a real processor's costs are its own, beside other programs.
  static Duration FirstOf(Duration took, Duration cost);

  // A slice ends. Requires: comes every kTickInterval, or later.
  void Tick(Time now);
  Level level() const { return vital_.level(); }
  const Vital& vital() const { return vital_; }
  // The last second had no idle tenth, and most of its steps' time was the replica's own (R11).
  bool is_saturated() const;
  // Microseconds of work since the first slice, on this processor as it was then.
  std::int64_t work() const { return UsualTime(meter_.cost() - began_) / 1us; }

 private:
  static constexpr std::size_t kSlices = kSecond / kTickInterval;

  struct Mark {
    Time at;
    Duration cost;  // until then
    Duration took;
  };

  // A slice with work ends.
  void OnSlice(Time now, Duration took, Duration cost);
  // The time, about, that work of this cost takes without a fault.
  Duration UsualTime(Duration cost) const { return cost / 1us * first_ / (1ms / 1us); }

  const ProcessorMeter& meter_;
  Vital vital_;
  Duration first_{0};       // the value of the first slice; 0 before its end
  Duration began_{0};       // the cost until then
  std::deque<Mark> marks_;  // of the last kSlices slices, and one more
};

// The work so far.
class Work {
 public:
  explicit Work(const ProcessorVital& processor) : processor_(processor) {}

  void AddWritten(std::size_t bytes) { written_ += static_cast<std::int64_t>(bytes); }
  std::int64_t total() const { return written_ + processor_.work(); }

 private:
  const ProcessorVital& processor_;
  std::int64_t written_ = 0;
};

// The work since the call before.
class WorkMeter {
 public:
  // It outlives this.
  explicit WorkMeter(const Work& work) : work_(work) {}

  int Take();

 private:
  const Work& work_;
  std::int64_t seen_ = 0;
};

// The value: the time of the syncs that end together, a batch, without the time behind earlier
// ones. It is that of a sync with kPlainBytes: a larger batch takes longer on any disk. A write
// leaves at the end of its step, and the step is no time of the disk's.
class DiskVital {
 public:
  explicit DiskVital(const Work& work) : work_(work) {}

  void Tick(Time now);
  void SetSaturated(bool saturated) { vital_.SetSaturated(saturated); }
  Level level() const { return vital_.level(); }
  const Vital& vital() const { return vital_; }

  // The step asks for a sync; one that was asked for then has ended, and wrote these bytes.
  void OnAsk(Time now) { under_way_.push_back({now, now}); }
  void OnEnd(Time now, Time asked, std::size_t bytes);
  // The latest step. Requires: comes before the ends of the step's syncs.
  void OnStepEnd(const StepUsage& usage);

 private:
  // About what a disk writes in the time of a sync.
  static constexpr std::int64_t kPlainBytes = 32 * 1024;

  struct Sync {
    Time asked;
    Time began;
  };
  struct Batch {
    Time began;
    Time end;
    std::int64_t bytes;
  };

  void EndBatch();

  Vital vital_;
  WorkMeter work_;
  std::deque<Sync> under_way_;  // ascending
  std::optional<Batch> batch_;  // the latest, until it is known to be whole
  Time last_end_{0};
};

// The value: the time of a round trip to a peer.
class LinkVital {
 public:
  explicit LinkVital(const Work& work) : work_(work) {}

  void Tick(Time now);
  void SetSaturated(bool saturated) { vital_.SetSaturated(saturated); }
  Level level() const { return vital_.level(); }
  const Vital& vital() const { return vital_; }

  // A request is sent. Its answer has come, or none will.
  void OnAsk(Time now) { under_way_.push_back(now); }
  void OnAnswer(Time now, Time asked);
  void OnNoAnswer(Time asked);
  // The latest one; nothing before the first.
  std::optional<Duration> round_trip() const { return round_trip_; }

 private:
  Vital vital_;
  WorkMeter work_;
  std::deque<Time> under_way_;  // when they were asked, ascending
  std::optional<Duration> round_trip_;
};

}  // namespace depfast::adr

// AskedDetector: the detector of the solution under test, asked of a replica.
//
//   AskedDetector detector;
//   const std::vector<StretchReport> seen = detector.Watch(writer);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "asked_replica.h"
#include "planted_streams.h"
#include "stream_writer.h"

namespace depfast::adr {

// Both static thresholds, those of document 004's Table 3 for HBase.
struct StaticLimits {
  Duration warn = 100ms;
  Duration fatal = 10s;
};

// A fault is found within this time (document 004, figure 12c).
inline constexpr Duration kFoundWithin = 1300ms;
// No fault is continuous so soon: a level that is fatal then was fatal without it.
inline constexpr Duration kNotFoundBefore = 100ms;

// The answers to the calls of a stretch of runs, and the detector after it.
struct StretchReport {
  std::int64_t warnings = 0;
  std::int64_t fatals = 0;
  std::int64_t first_fatal_ns = -1;  // since the begin of the stretch; negative without one
  std::int64_t threshold_ns = 0;
  std::uint64_t resets = 0;  // in the stretch
};

class AskedDetector : public AskedReplica, private sim::Observer {
 public:
  AskedDetector() { cluster().simulator().AddObserver(this); }

  // The reports of the writer's stretches. All are empty if the replica does not answer. Streams
  // are shown piece by piece, so that a detector answers before it knows what comes.
  std::vector<StretchReport> Watch(const StreamWriter& writer, const StaticLimits& limits = {}) {
    return WatchAll({writer}, limits).front();
  }
  // By writer. All streams are watched at once, by a detector each.
  std::vector<std::vector<StretchReport>> WatchAll(const std::vector<StreamWriter>& writers,
                                                   const StaticLimits& limits = {});
  // The state after each run, by stream. All are empty if the replica does not answer.
  std::vector<std::string> States(WatchStreams request);

  // The largest heap of the replica between two of its steps so far, in bytes; 0 if it does not run
  // in a process of its own.
  std::uint64_t heap_bytes_max() const { return heap_bytes_max_; }
  // The resident memory of the replica's process now, with what the heap does not count; 0 if it
  // has none of its own.
  std::size_t resident_bytes() { return cluster().simulator().ResidentBytes(kAsked); }

 private:
  void OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput& output) override {
    (void)input;
    if (replica == kAsked) heap_bytes_max_ = std::max(heap_bytes_max_, output.heap_bytes);
  }

  std::uint64_t heap_bytes_max_ = 0;
  std::uint32_t shown_ = 0;  // the number of the latest streams
};

// Whether the fault in this stretch was found in time. If not, it says what static pairs find.
testing::AssertionResult FindsTheFault(const StreamWriter& writer, std::size_t stretch,
                                       const std::vector<StretchReport>& seen);
// Whether a stretch was quiet: neither a fatal level nor a reset.
testing::AssertionResult IsQuiet(const StretchReport& seen);
// Whether the threshold after a stretch is the percentile of its values: at most a tenth off.
testing::AssertionResult HasLearned(const StretchReport& seen, const Stretch& stretch);

}  // namespace depfast::adr

// Planted streams: what a test of your detector shows it, as data. Given, not submitted.
//
// A test cannot call your detector: it runs in another process. It sends streams to a replica,
// whose driver gives them to detectors and answers with what they said.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "depfast/host/frame.h"
#include "depfast/time.h"

namespace depfast::adr {

// Some calls alike of a detector, each `gap_ns` after the call before.
struct PlantedRun {
  enum class Kind : std::uint8_t {
    kUpdates,       // IsWarn, then IsFatal
    kTicks,         // OnTick, with an operation under way of the age `value_ns`
    kIdleTicks,     // OnTick, with none
    kStall,         // OnTick, with one that began with the run
    kSaturated,     // SetSaturated(true)
    kNotSaturated,  // SetSaturated(false)
    kStaticWarn,    // none: from now on `value_ns` is the first static threshold
  };
  Kind kind = Kind::kUpdates;
  std::int64_t times = 1;
  std::int64_t gap_ns = 0;
  std::int64_t value_ns = 0;
  std::int32_t work = 1;
  bool goes_on = false;  // it began with the run before
  DEPFAST_FIELDS(kind, times, gap_ns, value_ns, work, goes_on)
};

// The answers to the calls of a run, and the detector after it.
struct RunReport {
  std::int64_t warnings = 0;
  std::int64_t fatals = 0;
  std::int64_t first_fatal = -1;  // its number in the run, from 0; negative without one
  std::int64_t threshold_ns = 0;
  std::uint64_t resets = 0;  // of the detector so far
  DEPFAST_FIELDS(warnings, fatals, first_fatal, threshold_ns, resets)
};

// One of them is filled, as the request says.
struct StreamReport {
  std::string states;  // after each run: see StateAfter
  std::vector<RunReport> runs;
  DEPFAST_FIELDS(states, runs)
};

struct PlantedReport {
  std::vector<StreamReport> streams;
  DEPFAST_FIELDS(streams)
};

struct PlantedStream {
  std::vector<std::uint32_t> order;  // of the runs: their places in WatchStreams::runs
  std::vector<std::uint32_t> ends;   // not sent; by stretch, the number of runs before its end
  DEPFAST_FIELDS(order)
};

// Each stream has a detector of its own. They take turns, run by run: all see their first run, then
// all see their second one, and so on. A test shows streams piece by piece, so that no answer is
// made with the next question at hand.
struct WatchStreams {
  using Reply = PlantedReport;
  static constexpr MethodId kMethod = 141;
  static constexpr const char* kName = "WatchStreams";
  // Another number than in the request before begins new streams. Else they go on.
  std::uint32_t number = 0;
  std::uint32_t piece = 0;  // of the streams
  // AdrOptions.
  std::uint32_t recent_min = 10;
  std::uint32_t history_per_recent = 10;
  std::uint32_t rates_per_recent = 2;
  std::uint32_t window_max = 8192;
  // Both static thresholds, at first.
  std::int64_t warn_ns = 0;
  std::int64_t fatal_ns = 0;
  // Whether the state after each run is asked for, or else the report of each run.
  bool wants_states = false;
  std::vector<PlantedRun> runs = {};
  std::vector<PlantedStream> streams = {};
  DEPFAST_FIELDS(number, piece, recent_min, history_per_recent, rates_per_recent, window_max,
                 warn_ns, fatal_ns, wants_states, runs, streams)
};

// Whether a run's value is as large as the threshold after it. Values of tests are far apart, so
// that a threshold may be a tenth off.
constexpr bool Reaches(const PlantedRun& run, Duration threshold) {
  return Duration(run.value_ns) > threshold / 4 * 3;
}

// A printable letter: the latest answers, the rate (as a number, see Rate), whether the run had a
// reset, and whether its value reaches the threshold.
constexpr char StateAfter(bool is_warn, bool is_fatal, int rate, bool was_reset, bool reaches) {
  return static_cast<char>('0' + (is_warn ? 1 : 0) + (is_fatal ? 2 : 0) + 4 * rate +
                           (was_reset ? 16 : 0) + (reaches ? 32 : 0));
}

}  // namespace depfast::adr

// PutLoad: puts a load on a store in real time and measures it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "depfast/host/random.h"
#include "depfast/time.h"
#include "put_target.h"
#include "testkit/load.h"

namespace depfast::load {

struct LoadOptions {
  int clients = 1;                   // of a closed loop: each starts a put when its last has ended
  std::int64_t puts_per_second = 0;  // above 0: an open loop instead, whose arrivals do not wait
  std::size_t value_bytes = 256;
  Duration warm_up = 1s;  // before the window
  Duration window = 5s;   // that is measured
  Duration slice{0};      // above 0: every latency is reported, by slices of this length
};

struct LoadReport {
  testkit::LatencyRecorder latencies;  // of puts begun and ended in the window
  std::uint64_t committed = 0;         // in the window
  std::uint64_t failed = 0;            // ever
  int leader_changes = 0;              // ever
  Duration cpu{0};                     // of this process, in the window
  Time window_began{0};                // on CLOCK_MONOTONIC
  // The latencies of the puts that ended in each slice of the window; empty without
  // LoadOptions::slice.
  std::vector<std::vector<Duration>> slices;
};

// Requires: nothing is under way at `target`. Throws the exceptions of PutTarget::Await, and
// std::runtime_error if an open loop gets so far behind that its queue only grows.
LoadReport Run(PutTarget& target, const LoadOptions& options);

}  // namespace depfast::load

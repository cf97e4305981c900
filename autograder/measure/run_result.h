// The figures of one run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "depfast/time.h"
#include "depfast/verify/unfinished_work.h"
#include "depfast/verify/wait_statistics.h"
#include "flows.h"
#include "testkit/load.h"

namespace depfast::measure {

// The facts that an explanation of a failure needs.
struct Evidence {
  std::vector<std::pair<PeerId, WaitRow>> waits;  // of the proposers
  Flows::ByLink flows;                            // in the window
  // The unfinished work of the replicas that are not slow, at the window's end.
  std::vector<std::pair<PeerId, UnfinishedRow>> unfinished;
};

// The times and messages of a run with stages, or of a changing load, in slices of
// kCompletionsSlot from the window's begin on.
struct Onset {
  std::int64_t fault_from = 0;  // without a fault it is the same time
  std::int64_t fault_to = 0;
  // In which other proposers replaced those before.
  std::vector<std::int64_t> new_proposers;
  // To clients, of each replica in each slice; refusals are among them.
  std::vector<std::vector<std::int64_t>> answers;
  bool has_slices = false;  // the latencies of each slice are a part of the result
};

struct RunResult {
  testkit::LoadResult load;
  Duration measured{1};               // how long the load's window was
  std::size_t peak_held_bytes = 0;    // the most that a proposer held for one peer, in the window
  std::uint64_t peak_heap_bytes = 0;  // the largest heap of a replica that is not slow, in it
  // The most memory of such a process at the end of the window, as the machine says it.
  std::size_t resident_bytes = 0;
  // The most that a replica that is not slow has at the window's end: coroutines that have not
  // ended (a claim), and requests to other replicas without an answer (counted from frames).
  std::uint64_t unfinished_coroutines = 0;
  std::uint64_t pending_requests = 0;
  std::vector<PeerId> slow;          // the replicas that the fault strikes
  std::uint64_t lag = 0;             // entries: the most that a slow replica was behind, in it
  std::optional<Duration> catch_up;  // from the window's end; nothing if it took too long
  // Time until the log is in its fast mode (LogChecker::IsFast), and the share of the window's
  // entries that was committed slowly.
  std::optional<Duration> fast_again;
  double slowly = 0;
  std::uint64_t crossings = 0;
  std::uint64_t trace_hash = 0;
  std::string twins;      // see sealed::TwinsInWords; empty without twins
  std::string error;      // a sentence if the submission misbehaved; the numbers mean nothing then
  std::string violation;  // a sentence if an invariant was violated, or a client told an untruth
  std::optional<Evidence> evidence;  // if asked for
  std::optional<Onset> onset;        // of a run with stages, or with a changing load
};

// The object that `failslow.measurement.binary` reads.
nlohmann::json ToJson(const RunResult& result);

}  // namespace depfast::measure

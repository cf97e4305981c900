// A step: all data that pass between a replica and its simulated world.
//
// The simulator talks to every replica in steps, in this process (hosts/sim) or in another one
// (hosts/sealed). Nothing else can cross, so these structures are also the trace: two runs with
// equal steps are the same run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "depfast/host/host.h"
#include "depfast/time.h"

namespace depfast::sim {

// The configuration of a replica, known before its first step.
struct ReplicaConfig {
  PeerId self = 0;                       // its address in the cluster
  int replicas = 1;                      // of the whole cluster
  std::uint64_t random_seed = 0;         // of this replica's own stream, in this incarnation
  std::vector<std::string> probes = {};  // by name, see MakeProbe
  std::vector<int> groups = {};          // their sizes, see Groups; empty: one group
};

struct FrameArrival {
  PeerId from = 0;
  Bytes bytes;
};

struct StepInput {
  Time now{0};
  // The cost and the time of the replica's step before this one; zero in its first.
  Duration last_cost{0};
  Duration last_took{0};
  std::vector<FrameArrival> frames;
  std::vector<IoCompletion> completions;
  std::vector<std::size_t> held_bytes;  // by replica id, at the start of the step
};

struct SendFrame {
  FrameId id = 0;
  PeerId to = 0;
  Bytes bytes;
};

struct ReleaseFrame {
  FrameId id = 0;
  PeerId to = 0;
};

struct SetWake {
  Time when{0};
};

// In the order in which the replica made the calls.
using Output = std::variant<SendFrame, ReleaseFrame, IoRequest, SetWake, Observation>;

// A larger heap is malformed: no machine has it.
inline constexpr std::uint64_t kHeapBytesMax = std::uint64_t{1} << 46;

struct StepOutput {
  std::vector<Output> outputs;
  std::uint64_t random_draws = 0;  // made in this step
  // The heap of the replica before this step, in bytes requested: see sealed/heap.h. A claim, at
  // most kHeapBytesMax. Zero for a replica that does not run in a process of its own.
  std::uint64_t heap_bytes = 0;
  // Empty, or why the replica is dead: it threw, exited, crashed, overflowed, never waited.
  std::string death;
};

// A replica, wherever it runs.
class ReplicaBackend {
 public:
  virtual ~ReplicaBackend() = default;

  // Runs one step. After an output with `death` set the backend must not be used again.
  virtual StepOutput Step(const StepInput& input) = 0;

  // For people, outside the trace.
  virtual std::string DumpCoroutines() = 0;
  // The report of a probe of ReplicaConfig::probes: see ReportingProbe. Empty if the replica has no
  // such probe, or does not answer. A sealed replica may report anything.
  virtual std::string Report(const std::string& probe) = 0;
  // Memory of the replica's process that is resident, as its machine sees it: a guard, outside the
  // trace, and different on each machine. Zero for a replica that has no process of its own.
  virtual std::size_t ResidentBytes() const { return 0; }
};

// Starts a replica, at each start of a cluster and after each crash.
using BackendFactory = std::function<std::unique_ptr<ReplicaBackend>(const ReplicaConfig&)>;

}  // namespace depfast::sim

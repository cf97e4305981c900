// SealedBackend: a replica in a process of its own, in lock-step with the simulator.
//
// The process may exit, crash, overflow its stack, loop forever or send malformed messages. Each of
// these becomes a sentence in StepOutput::death, and none harms the grader's process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "sim/simulator.h"

namespace depfast::sealed {

// A sanitizer keeps freed memory resident for a while.
#ifdef DEPFAST_SANITIZED
inline constexpr std::size_t kResidentBytesMax = std::size_t{8} << 30;
#else
inline constexpr std::size_t kResidentBytesMax = std::size_t{512} << 20;
#endif

// How the twins of a run did. See twin.h.
struct TwinVerdict {
  bool differs = false;  // a twin did not answer as its replica
  std::string unable;    // why the machine could not run a twin; empty if it could
};

struct SealedOptions {
  std::string program;  // path of the replica's executable
  // Varies malloc's fill byte. When odd, it switches address randomisation off. When even, reading
  // a clock is a fault. A deterministic replica does not notice. 0: the machine's defaults.
  int perturb = 0;
  // Each replica has a twin, with this perturbation; null: none has.
  std::shared_ptr<TwinVerdict> twins = nullptr;
  int twin_perturb = 0;
  // The limits stop runaway processes only. They are far above the needs of any replica in a step.
  // Of processor time. Replicas share a core, so five that spin take five times as long.
  int step_cpu_seconds_max = 5;
  // Of a process that neither computes nor answers. A loaded machine does not count: a process that
  // waits for a processor is not asleep.
  int step_asleep_seconds_max = 10;
  // Of all memory of the process that is resident, looked at now and then: a guard against memory
  // that StepOutput::heap_bytes does not count. Ten times the need of the reference in any test of
  // lab 2.
  std::size_t resident_bytes_max = kResidentBytesMax;
};

// "same", "differ", or TwinVerdict::unable.
std::string InWords(const TwinVerdict& verdict);

// Makes backends that start options.program. Starting fails with std::runtime_error only for
// reasons of the machine or the path, never of the replica.
sim::BackendFactory SealedReplicas(const SealedOptions& options);

}  // namespace depfast::sealed

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
inline constexpr int kRunCpuSecondsMax = 300;
#else
inline constexpr int kRunCpuSecondsMax = 40;
inline constexpr std::size_t kResidentBytesMax = std::size_t{512} << 20;
#endif

// Facts about all replicas of a test. For twins see twin.h.
struct Findings {
  bool twins_differ = false;  // a twin did not answer as its replica
  std::string twins_unable;   // why the machine could not run a twin; empty if it could
  // A step did not end, so the test has failed. From now on a step has a tenth of the time: a
  // submission that spins in each step would take hours.
  bool one_ran_away = false;
};

struct SealedOptions {
  std::string program;  // path of the replica's executable
  // Varies malloc's fill byte. When odd, it switches address randomisation off. When even, reading
  // a clock is a fault. A deterministic replica does not notice. 0: the machine's defaults.
  int perturb = 0;
  int twin_perturb = 0;  // of each replica's twin; 0: it has none
  std::shared_ptr<Findings> findings = std::make_shared<Findings>();
  // The limits stop runaway processes only. They are far above the needs of any replica in a step.
  // The limit of a step's processor time, after the first second.
  int step_cpu_seconds_max = 2;
  // The limit of processor time in a whole run, the simulator's included. It stops a replica that
  // wakes up or sends without end. Five times the reference's need in its longest graded test.
  int run_cpu_seconds_max = kRunCpuSecondsMax;
  // The limit for a process that neither computes nor answers. A loaded machine does not count: a
  // process that waits for a processor is not asleep.
  int step_asleep_seconds_max = 10;
  // The limit of the process's resident memory, looked at now and then: a guard against memory that
  // StepOutput::heap_bytes does not count. Ten times the need of the reference in any test of
  // lab 2.
  std::size_t resident_bytes_max = kResidentBytesMax;
};

// "same", "differ", or Findings::twins_unable.
std::string TwinsInWords(const Findings& findings);

// Makes backends that start options.program. Starting fails with std::runtime_error only for
// reasons of the machine or the path, never of the replica.
sim::BackendFactory SealedReplicas(const SealedOptions& options);

}  // namespace depfast::sealed

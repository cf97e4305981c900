// Endless steps: a replica in this process that never waits ends the process with a sentence.
//
// A sealed replica has the same guard in its backend. Here the loop runs in the test's own process,
// so only a signal gets in between.
#pragma once

#include "sim/step.h"

namespace depfast::testkit {

// Far above the need of any replica in a step, with sanitizers, too.
inline constexpr int kStepCpuSecondsMax = 5;

// Makes the same replicas. The process aborts with a message on stderr when one step of a replica
// uses more processor time than the limit, within a second. The message names the replica, and the
// coroutine if one runs. Requires: this thread runs the simulator; cpu_seconds_max > 0.
sim::BackendFactory EndingEndlessSteps(sim::BackendFactory factory,
                                       int cpu_seconds_max = kStepCpuSecondsMax);

}  // namespace depfast::testkit

// The cost of a step: the time of a processor without fault from a step's beginning until its
// outputs leave. The simulator computes it from the data that cross the Host, never from a
// replica's own figures.
#pragma once

#include <cstddef>
#include <cstdint>

#include "depfast/host/host.h"
#include "depfast/time.h"
#include "sim/profile.h"
#include "sim/step.h"

namespace depfast::sim {

// `bursts`: see Wires::Read. `memory_bytes`: the memory in use when the step began.
Duration StepCost(const Profile& profile, PeerId self, const StepInput& input,
                  const StepOutput& output, std::int64_t bursts, std::size_t memory_bytes);

}  // namespace depfast::sim

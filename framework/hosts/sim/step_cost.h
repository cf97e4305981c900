// What a step costs: the time of a processor without fault from a step's beginning until its
// outputs leave. Charged by the simulator from what crosses the Host, never from what a replica
// says.
#pragma once

#include <cstddef>
#include <cstdint>

#include "depfast/host/host.h"
#include "depfast/time.h"
#include "sim/profile.h"
#include "sim/step.h"

namespace depfast::sim {

// `bursts`: see Wires::Read. `memory_bytes`: what the replica held when the step began.
Duration StepCost(const Profile& profile, PeerId self, const StepInput& input,
                  const StepOutput& output, std::int64_t bursts, std::size_t memory_bytes);

}  // namespace depfast::sim

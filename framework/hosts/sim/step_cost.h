// The cost of a step: the time of a processor without fault from a step's beginning until its
// outputs leave. The simulator computes it from the data that cross the Host, never from a
// replica's own figures.
#pragma once

#include <cstdint>

#include "depfast/host/host.h"
#include "depfast/time.h"
#include "sim/profile.h"
#include "sim/step.h"

namespace depfast::sim {

// The memory in use, and the limit above which a step pays for paging.
struct MemoryUse {
  std::int64_t bytes = 0;
  std::int64_t limit = 0;
  bool has_heap = false;  // the limit is a fault's, and the heap is part of `bytes`
};

// `memory`: when the step began.
Duration StepCost(const Profile& profile, const StepInput& input, const StepOutput& output,
                  const MemoryUse& memory);

}  // namespace depfast::sim

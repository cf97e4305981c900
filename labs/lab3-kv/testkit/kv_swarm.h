// Swarm: many clients of a store under random faults.
#pragma once

#include <cstdint>

namespace depfast::kv {

// Six clients execute random commands for 4 s, under faults that are drawn from the seed. Then all
// faults end, and every key must be readable within 6 s. The test that calls it fails unless the
// history is linearizable: it must look like one store that serves one command at a time.
void Swarm(int replicas, std::uint64_t seed);

}  // namespace depfast::kv

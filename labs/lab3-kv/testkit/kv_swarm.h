// Swarm: many clients of a store under random faults.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace depfast::kv {

class KvWorld;

// Six clients execute random commands for 4 s, under faults that are drawn from the seed. Then all
// faults end, and every key must be readable within 6 s. The test that calls it fails unless the
// history is linearizable: it must look like one store that serves one command at a time.
// `disturb`, if given, may add to the faults: it gets each world at its start, and its result lives
// as long as the world.
using Disturb = std::function<std::shared_ptr<void>(KvWorld& world)>;
void Swarm(int replicas, std::uint64_t seed, const Disturb& disturb = nullptr);

}  // namespace depfast::kv

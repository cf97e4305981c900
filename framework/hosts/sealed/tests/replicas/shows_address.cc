// Nondeterministic: where things are in memory reaches the host.
#include <cstdint>

#include "trouble.h"

namespace {
void ShowAddress(depfast::Runtime& runtime) {
  static int somewhere = 0;
  const auto on_heap = std::make_unique<int>(1);
  runtime.Observe({1,
                   {reinterpret_cast<std::uintptr_t>(&somewhere),
                    reinterpret_cast<std::uintptr_t>(on_heap.get()), 0, 0}});
}
}  // namespace

TROUBLE_REPLICA(ShowAddress(runtime);)

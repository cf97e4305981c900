// Nondeterministic: a byte that was never written reaches the host.
#include <cstdlib>

#include "trouble.h"

namespace {
void ShowMemory(depfast::Runtime& runtime) {
  constexpr std::size_t kBytes = 2000;
  const auto* volatile fresh = static_cast<unsigned char*>(std::malloc(kBytes));
  runtime.Observe({1, {fresh[kBytes / 2], 0, 0, 0}});
  std::free(const_cast<unsigned char*>(fresh));
}
}  // namespace

TROUBLE_REPLICA(ShowMemory(runtime);)

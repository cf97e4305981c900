// Computes beside the steps that the simulator asks for.
// Stopped-by: system call
#include <thread>

namespace {
[[maybe_unused]] const int attack = [] {
  std::thread([] {
    for (;;) {
    }
  }).detach();
  return 0;
}();
}  // namespace

// Behaves otherwise in each run, by the kernel's random numbers.
// Stopped-by: system call
#include <sys/random.h>

namespace {
[[maybe_unused]] const int attack = [] {
  char bytes[8];
  getrandom(bytes, sizeof bytes, 0);
  return 0;
}();
}  // namespace

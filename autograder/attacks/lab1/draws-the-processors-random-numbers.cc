// Behaves otherwise in each run, by an instruction.
// Stopped-by: not deterministic
#include <cstdlib>

namespace {
// Without <immintrin.h>: the instruction needs a flag of the compiler there.
[[maybe_unused]] const int attack = [] {
  unsigned long drawn = 0;
  asm volatile("rdrand %0" : "=r"(drawn));
  if (drawn % 2 == 0) std::abort();
  return 0;
}();
}  // namespace

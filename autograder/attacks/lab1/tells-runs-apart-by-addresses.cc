// Behaves well where addresses are those of the graded run.
// Stopped-by: not deterministic
#include <cstdint>
#include <cstdlib>

namespace {
// The place of the program is fixed in one of the two runs.
[[maybe_unused]] const int attack = [] {
  static char here;
  if ((reinterpret_cast<std::uintptr_t>(&here) >> 24) % 2 == 0) std::abort();
  return 0;
}();
}  // namespace

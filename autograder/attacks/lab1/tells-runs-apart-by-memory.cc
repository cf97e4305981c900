// Behaves well where memory has the fill of a compared run.
// Stopped-by: not deterministic
#include <cstdlib>

namespace {
// Reads what malloc has left in memory that nobody has written.
[[maybe_unused]] const int attack = [] {
  auto* const memory = static_cast<volatile unsigned char*>(std::malloc(64));
  if (memory[32] < 128) std::abort();
  return 0;
}();
}  // namespace

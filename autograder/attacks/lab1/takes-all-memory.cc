// Fills the machine's memory before the first step.
// Stopped-by: memory
#include <cstring>

namespace {
[[maybe_unused]] const int attack = []() -> int {
  constexpr std::size_t kPiece = std::size_t{1} << 26;
  for (;;) std::memset(new char[kPiece], 1, kPiece);
}();
}  // namespace

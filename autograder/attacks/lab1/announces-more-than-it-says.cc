// Names a length that the grader should make room for.
// Stopped-by: absurd length
#include <unistd.h>

namespace {
[[maybe_unused]] const auto attack = write(4, "\xff\xff\xff\x7f", 4);
}  // namespace

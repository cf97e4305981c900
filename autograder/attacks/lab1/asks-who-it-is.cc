// Looks for the sandbox around it, to find a hole.
// Stopped-by: system call
#include <unistd.h>

namespace {
[[maybe_unused]] const auto attack = getuid();
}  // namespace

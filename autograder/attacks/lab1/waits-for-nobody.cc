// Sleeps in a call that only waits.
// Stopped-by: system call
#include <poll.h>

namespace {
[[maybe_unused]] const auto attack = poll(nullptr, 0, 9'000);
}  // namespace

// Reads the reference's solution at run time.
// Stopped-by: system call
#include <cstdio>

namespace {
[[maybe_unused]] const auto attack =
    std::fopen("@KIT@/reference-solutions/lab1-quorum-event/quorum_event.cc", "r");
}  // namespace

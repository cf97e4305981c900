// Shares memory with the other replicas through a file without a name.
// Stopped-by: system call
#include <sys/mman.h>

namespace {
[[maybe_unused]] const auto attack = memfd_create("shared", 0);
}  // namespace

// Leaves its empty root by a user namespace.
// Stopped-by: system call
#include <sys/syscall.h>
#include <unistd.h>

namespace {
[[maybe_unused]] const auto attack = syscall(SYS_unshare, 0x10000000);
}  // namespace

// Writes machine code that no compiler has seen, and executes it.
// Stopped-by: system call
#include <sys/mman.h>

namespace {
[[maybe_unused]] const auto attack =
    mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}  // namespace

// Shares pages with whoever the next process is.
// Stopped-by: system call
#include <sys/mman.h>

namespace {
[[maybe_unused]] const auto attack =
    mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}  // namespace

// Sleeps before main, so that no test ends.
// Stopped-by: system call
#include <unistd.h>

namespace {
[[maybe_unused]] const unsigned attack = sleep(3600);
}  // namespace

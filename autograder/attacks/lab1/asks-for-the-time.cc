// Tells a measured run from a test by the machine's clock.
// Stopped-by: system call
#include <sys/syscall.h>
#include <unistd.h>

namespace {
[[maybe_unused]] const long attack = [] {
  long time[2] = {};
  return syscall(SYS_clock_gettime, 0, time);
}();
}  // namespace

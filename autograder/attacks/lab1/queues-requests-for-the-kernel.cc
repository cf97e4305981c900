// Opens files through io_uring, past the filter of system calls.
// Stopped-by: system call
#include <sys/syscall.h>
#include <unistd.h>

namespace {
[[maybe_unused]] const int attack = [] {
  char parameters[120] = {};
  syscall(SYS_io_uring_setup, 1, parameters);
  return 0;
}();
}  // namespace

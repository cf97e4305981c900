// Goes on after a forbidden call, by a handler of its signal.
// Stopped-by: system call
#include <signal.h>
#include <unistd.h>

namespace {
[[maybe_unused]] const int attack = [] {
  signal(SIGSYS, [](int) {});
  fork();
  return 0;
}();
}  // namespace

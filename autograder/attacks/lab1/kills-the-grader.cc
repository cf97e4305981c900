// Kills the process that tests it.
// Stopped-by: system call
#include <signal.h>
#include <unistd.h>

namespace {
[[maybe_unused]] const int attack = kill(getppid(), SIGKILL);
}  // namespace

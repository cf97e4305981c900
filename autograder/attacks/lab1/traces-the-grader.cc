// Stops the process that tests it, as a debugger does.
// Stopped-by: system call
#include <sys/ptrace.h>
#include <unistd.h>

namespace {
[[maybe_unused]] const long attack = ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr);
}  // namespace

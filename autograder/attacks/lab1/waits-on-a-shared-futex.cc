// Waits until another replica wakes it, past the simulator.
// Stopped-by: system call
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
namespace {
int word = 0;
const long waited = syscall(SYS_futex, &word, FUTEX_WAIT, 0, nullptr, nullptr, 0);
}  // namespace

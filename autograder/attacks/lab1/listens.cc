// Talks to the other replicas past the simulator.
// Stopped-by: system call
#include <sys/socket.h>

namespace {
[[maybe_unused]] const int attack = socket(AF_UNIX, SOCK_DGRAM, 0);
}  // namespace

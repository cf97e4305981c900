// Writes the memory of the process that tests it.
// Stopped-by: system call
#include <fcntl.h>
#include <unistd.h>

#include <string>

namespace {
[[maybe_unused]] const int attack = [] {
  return open(("/proc/" + std::to_string(getppid()) + "/mem").c_str(), O_RDWR);
}();
}  // namespace

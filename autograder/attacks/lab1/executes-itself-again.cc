// Starts the allowed program once more, with other words.
// Stopped-by: system call
#include <sys/syscall.h>
#include <unistd.h>

namespace {
[[maybe_unused]] const int attack = [] {
  char name[] = "replica";
  char* const words[] = {name, nullptr};
  syscall(SYS_execveat, 5, "", words, nullptr, 0x1000);
  return 0;
}();
}  // namespace

// Replaces the replica by a shell.
// Stopped-by: system call
#include <unistd.h>

namespace {
[[maybe_unused]] const int attack = [] {
  char shell[] = "/bin/sh";
  char* const words[] = {shell, nullptr};
  execve(shell, words, nullptr);
  return 0;
}();
}  // namespace

// Starts a process in a session of its own, which would overwrite the results.
// Stopped-by: system call
#include <unistd.h>

#include <cstdio>

namespace {
[[maybe_unused]] const int attack = [] {
  if (fork() != 0) return 0;
  setsid();
  for (;;) {
    if (std::FILE* file = std::fopen("@OUT@/left-behind", "w")) std::fclose(file);
    sleep(1);
  }
}();
}  // namespace

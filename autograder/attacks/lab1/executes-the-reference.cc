// Becomes the reference's replica before main.
// Stopped-by: system call
#include <unistd.h>

namespace {
[[maybe_unused]] const int attack = [] {
  char name[] = "replica";
  char* const arguments[] = {name, nullptr};
  return execv("@KIT@/build/release/bin/lab1_replica", arguments);
}();
}  // namespace

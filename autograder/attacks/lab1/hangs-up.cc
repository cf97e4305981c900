// Closes the pipe to the grader and lives on.
// Stopped-by: closed its connection
#include <unistd.h>

namespace {
[[maybe_unused]] const int attack = []() -> int {
  close(4);
  for (;;) {
  }
}();
}  // namespace

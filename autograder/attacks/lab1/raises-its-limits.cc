// Takes more memory than its limit allows.
// Stopped-by: system call
#include <sys/resource.h>

namespace {
[[maybe_unused]] const int attack = [] {
  const rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &none);
  return 0;
}();
}  // namespace

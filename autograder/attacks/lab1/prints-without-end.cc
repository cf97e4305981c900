// Fills the disk of the machine with its last words.
// Stopped-by: crashed
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {
[[maybe_unused]] const int attack = [] {
  const std::string line(1 << 20, 'x');
  for (int i = 0; i < 200; ++i) std::fputs(line.c_str(), stderr);
  std::abort();
  return 0;
}();
}  // namespace

// Answers with 30 million values, each of which would need memory of the grader.
// Stopped-by: nonsense
#include <unistd.h>

#include <string>

namespace {
[[maybe_unused]] const int attack = [] {
  constexpr unsigned kValues = 30'000'000;
  std::string message = {'\x85', '\xc3', '\xc9', '\x01', '\xdd', '\x01', '\xc9', '\xc3', '\x80'};
  message.append(kValues, '\xc0');
  for (std::size_t at = 0; at < message.size();) {
    const auto put = write(4, message.data() + at, message.size() - at);
    if (put <= 0) return 1;
    at += static_cast<std::size_t>(put);
  }
  return 0;
}();
}  // namespace

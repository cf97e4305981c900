// Answers with a value inside a value, 100,000 times, to break the grader's stack.
// Stopped-by: nonsense
#include <unistd.h>

#include <string>

namespace {
[[maybe_unused]] const int attack = [] {
  std::string message(100'000, '\x91');
  std::string length;
  for (int i = 0; i < 4; ++i) length += static_cast<char>(message.size() >> (8 * i) & 0xff);
  message = length + message;
  for (std::size_t at = 0; at < message.size();) {
    const auto put = write(4, message.data() + at, message.size() - at);
    if (put > 0) at += static_cast<std::size_t>(put);
  }
  return 0;
}();
}  // namespace

// A number on the command line of put_load and predict_raft, which are given the same loads.
#pragma once

#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace depfast {

// Throws std::invalid_argument, in one line that names `flag`, for anything but 1 to 10^9.
inline std::int64_t NumberOfFlag(const char* flag, std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 ||
      number > 1'000'000'000) {
    throw std::invalid_argument("--" + std::string(flag) + ": '" + std::string(text) +
                                "' is not a number from 1 to 10^9");
  }
  return number;
}

}  // namespace depfast

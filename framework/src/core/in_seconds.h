// InSeconds: a time or a duration as a person reads it, the same as in histories.
#pragma once

#include <cstdint>
#include <string>

#include "depfast/time.h"

namespace depfast {

// "1.002000 s". Requires: not negative.
inline std::string InSeconds(Duration time) {
  constexpr std::int64_t kMicrosPerSecond = 1'000'000;
  const std::int64_t micros = time.count() / 1000;
  std::string fraction = std::to_string(micros % kMicrosPerSecond);
  fraction.insert(0, 6 - fraction.size(), '0');
  return std::to_string(micros / kMicrosPerSecond) + "." + fraction + " s";
}

}  // namespace depfast

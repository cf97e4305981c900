// TransferTime: the time that a disk of a given speed takes to move bytes. The simulation and the
// real host both use it.
#pragma once

#include <cstdint>

#include "depfast/time.h"

namespace depfast::faults {

// Requires: bytes >= 0; bytes_per_second > 0.
constexpr Duration TransferTime(std::int64_t bytes, std::int64_t bytes_per_second) {
  // In two parts: the product of bytes and nanoseconds could overflow.
  constexpr std::int64_t kSecond = 1'000'000'000;
  return Duration(bytes / bytes_per_second * kSecond +
                  bytes % bytes_per_second * kSecond / bytes_per_second);
}

}  // namespace depfast::faults

// Injects faults as another process does: by writing into a replica's file of faults.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "depfast/time.h"
#include "faults/catalogue.h"
#include "real/descriptor.h"

namespace depfast::real {

inline constexpr Time kEver{std::numeric_limits<std::int64_t>::max()};

inline void Inject(const std::string& file, faults::FaultKind kind, std::int64_t amount,
                   Time until = kEver, std::int64_t receivers = 0) {
  const Descriptor opened = Checked(open(file.c_str(), O_WRONLY), "open");
  const std::array<std::int64_t, 3> words = {until.count(), amount, receivers};
  const auto offset =
      static_cast<off_t>(sizeof(std::int64_t) + static_cast<std::size_t>(kind) * sizeof words);
  ASSERT_EQ(pwrite(opened.get(), words.data(), sizeof words, offset), ssize_t{sizeof words});
}

inline void Heal(const std::string& file, faults::FaultKind kind) {
  Inject(file, kind, 0, Time{0});
}

}  // namespace depfast::real

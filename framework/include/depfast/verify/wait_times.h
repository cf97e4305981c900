// WaitTimes: the number of some waits, their times in all, and the longest.
#pragma once

#include <algorithm>
#include <cstdint>

#include "depfast/fields.h"
#include "depfast/time.h"

namespace depfast {

struct WaitTimes {
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t worst_ns = 0;

  void Add(Duration time) {
    ++count;
    total_ns += time.count();
    worst_ns = std::max(worst_ns, std::int64_t{time.count()});
  }
  void Merge(const WaitTimes& other) {
    count += other.count;
    total_ns += other.total_ns;
    worst_ns = std::max(worst_ns, other.worst_ns);
  }
  // 0 without any wait.
  std::int64_t mean_ns() const {
    return count == 0 ? 0 : total_ns / static_cast<std::int64_t>(count);
  }

  friend bool operator==(const WaitTimes&, const WaitTimes&) = default;
  DEPFAST_FIELDS(count, total_ns, worst_ns)
};

}  // namespace depfast

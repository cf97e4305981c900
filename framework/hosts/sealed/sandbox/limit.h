// Limit: a limit of this process's resources, for good.
#pragma once

#include <sys/resource.h>

#include <algorithm>

namespace depfast::sealed {

// Lowers the soft and the hard limit to `value`; one that is lower already stays. False if the
// kernel refuses. Makes only system calls.
inline bool Limit(int resource, rlim_t value) {
  const auto which = static_cast<__rlimit_resource>(resource);
  rlimit limit{};
  if (getrlimit(which, &limit) != 0) return false;
  const rlim_t lowered = std::min(value, limit.rlim_max);
  limit = {lowered, lowered};
  return setrlimit(which, &limit) == 0;
}

}  // namespace depfast::sealed

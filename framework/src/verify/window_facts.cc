#include "depfast/verify/window_facts.h"

#include <algorithm>

namespace depfast {

void WaitTimes::Add(Duration time) {
  ++count;
  total_ns += time.count();
  worst_ns = std::max(worst_ns, static_cast<std::int64_t>(time.count()));
}

void WaitTimes::Merge(const WaitTimes& other) {
  count += other.count;
  total_ns += other.total_ns;
  worst_ns = std::max(worst_ns, other.worst_ns);
}

}  // namespace depfast

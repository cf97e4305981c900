// Figures of all replicas, for detectors that compare peers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "depfast/peer.h"

namespace depfast::adr {

// The middle one, of an even number the upper. Requires: not empty.
inline double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// A variable's place among those of all replicas. Figures of peers are known at once, as the
// simulator has all replicas in one process. A real system sends them.
class Place {
 public:
  // Requires: three replicas. Each makes its detectors before the next does: of its processor, its
  // disk, and its links to both peers (health.h).
  Place() : replica_(made_ / kVariables % kReplicas), variable_(made_ % kVariables) { ++made_; }

  // The next detectors are those of `replica`, which starts again.
  static void NextIs(PeerId replica) {
    const auto index = static_cast<std::size_t>(replica);
    made_ = index * kVariables;
    figures_[index] = kUnknown;
  }

  PeerId replica() const { return static_cast<PeerId>(replica_); }

  // The variable's figure from now on; not negative.
  void Tell(double figure) { figures_[replica_][variable_] = figure; }

  // The figure of the same resource at each replica, this one's first; empty until all are known.
  // The figure of a replica's network is that of its better link.
  std::vector<double> Replicas() const {
    std::vector<double> found;
    for (std::size_t i = 0; i < kReplicas; ++i) {
      const auto& [processor, disk, link, other] = figures_[(replica_ + i) % kReplicas];
      found.push_back(variable_ == 0 ? processor : variable_ == 1 ? disk : std::min(link, other));
      if (found.back() < 0) return {};
    }
    return found;
  }

 private:
  static constexpr std::size_t kReplicas = 3;
  static constexpr std::size_t kVariables = 4;
  static constexpr std::array<double, kVariables> kUnknown = {-1, -1, -1, -1};

  static inline std::size_t made_ = 0;
  static inline std::array<std::array<double, kVariables>, kReplicas> figures_ = {
      kUnknown, kUnknown, kUnknown};

  const std::size_t replica_;
  const std::size_t variable_;
};

}  // namespace depfast::adr

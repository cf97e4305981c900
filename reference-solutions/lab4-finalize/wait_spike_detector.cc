#include "wait_spike_detector.h"

#include <algorithm>
#include <optional>
#include <string>

#include "wait_spikes.h"

namespace depfast {
namespace {

using Means = std::map<PeerId, std::int64_t>;

// The mean wait of each peer with evidence.
Means MeanWaits(const ActivityWindow& window) {
  Means means;
  for (const PeerActivity& peer : window.peers) {
    const std::uint64_t waits = peer.ended.count + peer.open.count;
    if (waits < spikes::kLeastWaits) continue;
    const std::int64_t total = peer.ended.total_ns + peer.open.total_ns;
    means[peer.peer] = total / static_cast<std::int64_t>(waits);
  }
  return means;
}

// Nothing if there is no other peer.
std::optional<std::int64_t> ShortestOfOthers(const Means& means, PeerId self) {
  std::optional<std::int64_t> shortest;
  for (const auto& [peer, mean] : means) {
    if (peer != self) shortest = std::min(mean, shortest.value_or(mean));
  }
  return shortest;
}

std::int64_t Median(std::deque<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void Remember(std::deque<std::int64_t>& values, std::int64_t value) {
  values.push_back(value);
  if (values.size() > spikes::kRemembered) values.pop_front();
}

}  // namespace

bool WaitSpikeDetector::Past::IsSpike(std::int64_t wait, std::int64_t ratio) const {
  return waits.size() >= spikes::kWarmUp && wait > spikes::kFactor * Median(waits) &&
         ratio > spikes::kFactor * Median(ratios);
}

std::vector<Finding> WaitSpikeDetector::OnWindow(const ActivityWindow& window) {
  std::vector<Finding> findings;
  const Means means = MeanWaits(window);
  for (const auto& [peer, wait] : means) {
    const std::optional<std::int64_t> shortest = ShortestOfOthers(means, peer);
    if (!shortest) continue;
    const std::int64_t ratio = wait * 1000 / std::max<std::int64_t>(*shortest, 1);
    Past& past = past_[peer];
    if (past.IsSpike(wait, ratio)) {
      findings.push_back({peer, "its mean wait is " + std::to_string(wait / 1000) + " us"});
    } else {
      Remember(past.waits, wait);
      Remember(past.ratios, ratio);
    }
  }
  return findings;
}

}  // namespace depfast

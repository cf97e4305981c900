#include "window_writer.h"

#include <algorithm>

#include "wait_spikes.h"

namespace depfast::lab4 {
namespace {

Duration Percent(Duration time, std::int64_t percent) { return time * percent / 100; }

// The mean of all waits if the open ones, a tenth, are `lingering` percent of the others.
std::int64_t MeanWith(std::int64_t lingering) { return (9 * 100 + lingering) / 10; }

// Adds `count` waits at the end of the window: of calls at even distances in the latest `span`.
void AddSince(WaitTimes& waits, std::int64_t count, Duration span) {
  for (std::int64_t i = 0; i < count; ++i) waits.Add(span * (2 * i + 1) / (2 * count));
}

}  // namespace

Duration WindowWriter::Draw(Duration mean) { return mean / 2 + random_.Below(mean); }

PeerActivity WindowWriter::Answering(PeerId peer, const Stretch& stretch) {
  const auto slow = stretch.slow.find(peer);
  const std::int64_t factor = slow == stretch.slow.end() ? 100 : slow->second;
  const std::uint64_t noise =
      random_.Below(2 * static_cast<std::uint64_t>(stretch.noise) + 1);  // from 0 to twice
  const std::int64_t percent = 100 - stretch.noise + static_cast<std::int64_t>(noise);
  const Duration mean = Percent(Percent(Percent(usual_.at(peer), stretch.load), factor), percent);
  const auto busy = stretch.busy.find(peer);
  const int calls = busy == stretch.busy.end() ? stretch.calls : busy->second;
  PeerActivity activity{.peer = peer, .calls = static_cast<std::uint64_t>(calls)};
  const int open = calls / 10;
  for (int i = 0; i < calls - open; ++i) activity.ended.Add(Draw(mean));
  const auto lingering = stretch.lingering.find(peer);
  const std::int64_t longer = lingering == stretch.lingering.end() ? 100 : lingering->second;
  for (int i = 0; i < open; ++i) activity.open.Add(Draw(Percent(mean, longer)));
  const auto outlier = stretch.outliers.find(peer);
  if (outlier != stretch.outliers.end()) activity.ended.Add(mean + outlier->second);
  activity.replies = activity.ended.count;
  const auto late = unanswered_.extract(peer);  // all at once, in the middle of the window
  if (!late.empty()) {
    const WaitTimes& waits = late.mapped();
    const std::int64_t half = kPlantedWindow.count() / 2;
    activity.replies += waits.count;
    activity.ended.count += waits.count;
    activity.ended.total_ns += waits.total_ns + half * static_cast<std::int64_t>(waits.count);
    activity.ended.worst_ns = std::max(activity.ended.worst_ns, waits.worst_ns + half);
  }
  return activity;
}

PeerActivity WindowWriter::Silent(PeerId peer, const Stretch& stretch) {
  PeerActivity activity{.peer = peer, .calls = static_cast<std::uint64_t>(stretch.calls)};
  if (stretch.patience < kPlantedWindow) {
    const std::int64_t open = stretch.calls * stretch.patience / kPlantedWindow;
    for (std::int64_t i = open; i < stretch.calls; ++i) activity.ended.Add(stretch.patience);
    activity.released = activity.ended.count;
    AddSince(activity.open, open, stretch.patience);
    return activity;
  }
  WaitTimes& waits = unanswered_[peer];
  waits.total_ns += kPlantedWindow.count() * static_cast<std::int64_t>(waits.count);
  waits.worst_ns += waits.count > 0 ? kPlantedWindow.count() : 0;
  AddSince(waits, stretch.calls, kPlantedWindow);
  activity.open = waits;
  return activity;
}

void WindowWriter::Add(const Stretch& stretch) {
  for (int i = 0; i < stretch.windows; ++i) {
    ActivityWindow window;
    window.from_ns = kPlantedWindow.count() * static_cast<std::int64_t>(windows_.size());
    window.to_ns = window.from_ns + kPlantedWindow.count();
    std::set<PeerId> slow;
    for (const auto& [peer, usual] : usual_) {
      if (stretch.idle.contains(peer)) continue;
      if (IsSlow(peer, stretch)) slow.insert(peer);
      const bool is_silent = stretch.silent.contains(peer);
      window.peers.push_back(is_silent ? Silent(peer, stretch) : Answering(peer, stretch));
    }
    for (const PeerActivity& peer : window.peers) window.steps += 2 * peer.calls;
    window.cost_ns = window.took_ns = static_cast<std::int64_t>(window.steps) * 20'000;
    windows_.push_back({window, Spikes(window, slow)});
  }
}

bool WindowWriter::IsSlow(PeerId peer, const Stretch& stretch) const {
  const auto slow = stretch.slow.find(peer);
  const auto lingering = stretch.lingering.find(peer);
  return (slow != stretch.slow.end() && slow->second >= kSpike) ||
         (lingering != stretch.lingering.end() && MeanWith(lingering->second) >= kSpike) ||
         stretch.silent.contains(peer) || unanswered_.contains(peer);
}

std::vector<PeerId> WindowWriter::Spikes(const ActivityWindow& window,
                                         const std::set<PeerId>& slow) {
  std::vector<PeerId> evident;
  for (const PeerActivity& peer : window.peers) {
    if (peer.ended.count + peer.open.count >= spikes::kLeastWaits) evident.push_back(peer.peer);
  }
  std::vector<PeerId> spikes;
  if (evident.size() < 2) return spikes;
  for (const PeerId peer : evident) {
    if (slow.contains(peer) && learned_[peer] >= spikes::kWarmUp) {
      spikes.push_back(peer);
    } else {
      ++learned_[peer];
    }
  }
  return spikes;
}

}  // namespace depfast::lab4

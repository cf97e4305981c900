#include "saucr_marks.h"

#include <utility>

#include "saucr_names.h"

namespace depfast::saucr {
namespace {

// A claim of a replica in words, and the mark's shape: it points up to fast mode and to a
// replica that recovers, and down from both. Empty words: no mark.
std::pair<std::string, std::string> InWords(const Observation& seen) {
  constexpr const char* kFlushes[] = {"a flush in the background", "a flush: the leader is silent",
                                      "a flush: slow mode begins"};
  constexpr const char* kRecoveries[] = {"nothing is lost: its disk has all", "recovering",
                                         "recovered"};
  const auto [first, second, third, fourth] = seen.values;
  switch (seen.kind) {
    case kModeObservation:
      return second == 0 ? std::pair{"slow mode", "no"} : std::pair{"fast mode", "yes"};
    case kFlushObservation:
      return {kFlushes[first % 3], ""};
    case kRecoveryObservation: {
      const bool has_lle = first == static_cast<std::uint64_t>(Recovery::kRecovered);
      const std::string lle = has_lle ? ": its LLE is " + At({second, third}) : "";
      return {kRecoveries[first % 3] + lle, first % 3 == 1 ? "no" : "yes"};
    }
    default:
      return {};
  }
}

}  // namespace

SaucrMarks::SaucrMarks(testkit::Cluster& cluster, const SaucrChecker& checker)
    : cluster_(cluster), checker_(checker), markers_(static_cast<std::size_t>(cluster.replicas())) {
  if (cluster.recorder() != nullptr) cluster.simulator().AddObserver(this);
}

void SaucrMarks::OnStep(PeerId replica, const sim::StepInput& input,
                        const sim::StepOutput& output) {
  for (const sim::Output& one : output.outputs) {
    const auto* const seen = std::get_if<Observation>(&one);
    if (seen == nullptr) continue;
    const auto [text, vote] = InWords(*seen);
    if (!text.empty()) Mark(replica, input.now, text, vote);
  }
}

void SaucrMarks::OnDisk(PeerId replica, Time now, const sim::SimDisk&) {
  const Markers& found = checker_.disk(replica).wal().markers;
  Markers& marked = markers_[static_cast<std::size_t>(replica)];
  if (found.fast_switch != marked.fast_switch) {
    Mark(replica, now, "fast-switch is on its disk: " + At(found.fast_switch));
  }
  if (found.latest_on_disk != marked.latest_on_disk) {
    Mark(replica, now, "latest-on-disk is on its disk: " + At(found.latest_on_disk));
  }
  marked = found;
}

void SaucrMarks::Mark(PeerId replica, Time at, const std::string& text, const std::string& vote) {
  cluster_.recorder()->Add({.at = at, .replica = replica, .text = text, .vote = vote});
}

}  // namespace depfast::saucr

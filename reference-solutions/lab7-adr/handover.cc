#include "handover.h"

#include <algorithm>
#include <tuple>

#include "handover_messages.h"

namespace depfast::adr {
namespace {

bool IsWell(const PeerReport& report, int replicas) {
  const auto& [processor, disk, links] = report.levels;
  const auto warned =
      std::ranges::count_if(links, [](const auto& link) { return link.second != Level::kWell; });
  return Duration(report.age_ns) <= kReportAgeMax && processor == Level::kWell &&
         disk == Level::kWell && 2 * warned <= replicas - 1;
}

}  // namespace

// The longest log wins votes. Then the nearest of equal ones makes the fastest rounds.
PeerId Successor(std::span<const Follower> followers, std::span<const PeerReport> reports,
                 std::uint64_t commit_index, int replicas) {
  Follower best;
  for (const Follower& each : followers) {
    const bool is_well = std::ranges::any_of(reports, [&](const PeerReport& report) {
      return report.peer == each.peer && IsWell(report, replicas);
    });
    if (!is_well || each.match_index < commit_index) continue;
    const bool is_better = std::tuple(each.match_index, best.round_trip) >
                           std::tuple(best.match_index, each.round_trip);
    if (best.peer == kNobody || is_better) best = each;
  }
  return best.peer;
}

void Rest::Begin(Time now) {
  const bool is_forgotten = now >= until_ - length_ + raft::kRestForgotten;
  length_ = length_ == Duration(0) || is_forgotten ? raft::kRestMin
                                                   : std::min(2 * length_, raft::kRestMax);
  until_ = now + length_;
}

}  // namespace depfast::adr

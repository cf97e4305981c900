#include "diagnosis_model.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace depfast::adr {
namespace {

constexpr int kReplicasMax = 7;
// The order of Table::bad.
constexpr std::array kByResource = {Resource::kProcessor, Resource::kDisk, Resource::kNetwork};

template <typename Value>
using PerReplica = std::array<Value, kReplicasMax>;

struct Table {
  std::array<PerReplica<bool>, 3> bad = {};  // by resource
  PerReplica<PerReplica<bool>> is_long = {};
};

void Enter(Table& table, PeerId replica, const Levels& levels) {
  const auto r = static_cast<std::size_t>(replica);
  table.bad[0][r] = levels.processor == Level::kFatal;
  table.bad[1][r] = levels.disk == Level::kFatal;
  for (const auto& [peer, level] : levels.links) {
    if (level != Level::kFatal) continue;
    table.is_long[r][static_cast<std::size_t>(peer)] = true;
    table.is_long[static_cast<std::size_t>(peer)][r] = true;
  }
}

void JudgeNetworks(Table& table, int replicas) {
  const auto n = static_cast<std::size_t>(replicas);
  for (std::size_t a = 0; a < n; ++a) {
    std::size_t long_links = 0;
    for (std::size_t b = 0; b < n; ++b) {
      const bool is_explained = table.bad[0][a] || table.bad[0][b];
      if (a != b && table.is_long[a][b] && !is_explained) ++long_links;
    }
    table.bad[2][a] = 2 * long_links > n - 1;
  }
}

bool IsYoung(const PeerReport& report) { return report.age_ns <= 1'000'000'000; }

}  // namespace

Suspicion ModelDiagnose(PeerId self, const Levels& own, const std::vector<PeerReport>& peers,
                        int replicas) {
  Table table;
  Enter(table, self, own);
  for (const PeerReport& report : peers) {
    if (IsYoung(report)) Enter(table, report.peer, report.levels);
  }
  JudgeNetworks(table, replicas);
  const auto others = [&](std::size_t resource) {
    const auto all = std::ranges::count(table.bad[resource], true);
    return all - (table.bad[resource][static_cast<std::size_t>(self)] ? 1 : 0);
  };
  for (std::size_t i = 0; i < kByResource.size(); ++i) {
    if (!table.bad[i][static_cast<std::size_t>(self)]) continue;
    return {2 * others(i) > replicas - 1 ? Suspicion::Who::kEverybody : Suspicion::Who::kSelf, 0,
            kByResource[i]};
  }
  for (std::size_t i = 0; i < kByResource.size(); ++i) {
    if (others(i) == 0) continue;
    if (2 * others(i) > replicas - 1) return {Suspicion::Who::kEverybody, 0, kByResource[i]};
    const auto first = std::ranges::find(table.bad[i], true) - table.bad[i].begin();
    return {Suspicion::Who::kPeer, static_cast<PeerId>(first), kByResource[i]};
  }
  return {};
}

bool ModelSendsClientsAway(const Suspicion& suspicion, std::optional<Duration> since_named,
                           const std::vector<PeerReport>& peers, int replicas) {
  bool has_place = false;
  for (const PeerReport& report : peers) {
    const auto far = std::ranges::count_if(
        report.levels.links, [](const auto& link) { return link.second == Level::kFatal; });
    const bool is_bad = report.levels.processor == Level::kFatal ||
                        report.levels.disk == Level::kFatal || 2 * far > replicas - 1;
    has_place = has_place || (IsYoung(report) && !is_bad);
  }
  return has_place && suspicion.who != Suspicion::Who::kEverybody && since_named &&
         *since_named < 5s;
}

}  // namespace depfast::adr

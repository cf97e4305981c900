#include "diagnosis.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>

namespace depfast::adr {
namespace {

bool Counts(const PeerReport& report) { return Duration(report.age_ns) <= kReportAgeMax; }

bool SaysLong(const Levels& levels, PeerId peer) {
  const auto link = levels.links.find(peer);
  return link != levels.links.end() && link->second == Level::kFatal;
}

// All that a replica knows, of all replicas.
class Group {
 public:
  Group(PeerId self, const Levels& own, std::span<const PeerReport> peers, int replicas)
      : replicas_(replicas) {
    known_[self] = own;
    for (const PeerReport& report : peers) {
      if (Counts(report)) known_[report.peer] = report.levels;
    }
  }

  // D1, D2: the resource of the replica is slow.
  bool IsBad(PeerId replica, Resource resource) const {
    if (resource == Resource::kNetwork) return HasBadNetwork(replica);
    const auto levels = known_.find(replica);
    if (levels == known_.end()) return false;
    const auto& [processor, disk, links] = levels->second;
    return (resource == Resource::kProcessor ? processor : disk) == Level::kFatal;
  }

  // In order.
  std::set<PeerId> BadPeersOf(PeerId self, Resource resource) const {
    std::set<PeerId> bad;
    for (PeerId peer = 0; peer < replicas_; ++peer) {
      if (peer != self && IsBad(peer, resource)) bad.insert(peer);
    }
    return bad;
  }

  bool AreMost(std::size_t peers) const {
    return 2 * peers > static_cast<std::size_t>(replicas_ - 1);
  }

 private:
  bool HasBadNetwork(PeerId replica) const {
    std::size_t long_links = 0;
    for (PeerId peer = 0; peer < replicas_; ++peer) {
      if (peer != replica && IsLong(replica, peer)) ++long_links;
    }
    return AreMost(long_links);
  }

  // A slow processor answers late: that says nothing about the network.
  bool IsLong(PeerId a, PeerId b) const {
    if (IsBad(a, Resource::kProcessor) || IsBad(b, Resource::kProcessor)) return false;
    const auto says = [this](PeerId from, PeerId to) {
      const auto levels = known_.find(from);
      return levels != known_.end() && SaysLong(levels->second, to);
    };
    return says(a, b) || says(b, a);
  }

  const int replicas_;
  std::map<PeerId, Levels> known_;  // by replica, of those that count
};

constexpr std::initializer_list<Resource> kInOrder = {Resource::kProcessor, Resource::kDisk,
                                                      Resource::kNetwork};

}  // namespace

// ---- 7C: who is slow? ----

Suspicion Diagnose(PeerId self, const Levels& own, std::span<const PeerReport> peers,
                   int replicas) {
  using Who = Suspicion::Who;
  const Group group(self, own, peers, replicas);
  for (const Resource resource : kInOrder) {
    if (!group.IsBad(self, resource)) continue;
    const bool is_everybody = group.AreMost(group.BadPeersOf(self, resource).size());
    return {is_everybody ? Who::kEverybody : Who::kSelf, 0, resource};
  }
  for (const Resource resource : kInOrder) {
    const std::set<PeerId> bad = group.BadPeersOf(self, resource);
    if (group.AreMost(bad.size())) return {Who::kEverybody, 0, resource};
    if (!bad.empty()) return {Who::kPeer, *bad.begin(), resource};
  }
  return {};
}

// ---- 7E: clients go elsewhere ----

bool SendsClientsAway(const Suspicion& suspicion, std::optional<Duration> since_named,
                      std::span<const PeerReport> peers, int replicas) {
  if (suspicion.who == Suspicion::Who::kEverybody) return false;
  if (!since_named || *since_named >= kWellBeforeClients) return false;
  return std::ranges::any_of(peers, [replicas](const PeerReport& report) {
    if (!Counts(report)) return false;
    const Group alone(report.peer, report.levels, {}, replicas);
    return std::ranges::none_of(
        kInOrder, [&](Resource resource) { return alone.IsBad(report.peer, resource); });
  });
}

}  // namespace depfast::adr

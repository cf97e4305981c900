#include "handover_world.h"

#include <memory>

namespace depfast {

// Lab 3's store runs on a Raft that hands over.
std::unique_ptr<LogChecker> MakeLogChecker(const sim::GroupView& group, testkit::History& history) {
  return std::make_unique<adr::HandoverChecker>(group, &history);
}

}  // namespace depfast

namespace depfast::adr {

HandoverWorld::HandoverWorld(const testkit::ClusterOptions& options)
    : KvWorld(options),
      checker(dynamic_cast<HandoverChecker&>(log())),
      planter_(cluster.simulator()) {}

void HandoverWorld::Plant(PeerId replica, const PlantHealth& health) {
  planter_.Call(replica, health, 1s, [](const auto&) {});
}

void HandoverWorld::FindsItselfSlow(PeerId replica, const std::vector<PeerReport>& reports,
                                    Resource resource) {
  Plant(replica, {.suspicion = {Suspicion::Who::kSelf, 0, resource}, .reports = reports});
}

void HandoverWorld::FindsItselfSlow(PeerId replica, Resource resource) {
  FindsItselfSlow(replica, AllWell(replica), resource);
}

void HandoverWorld::FindsNobodySlow(PeerId replica) {
  Plant(replica, {.suspicion = {}, .reports = AllWell(replica)});
}

std::vector<PeerReport> HandoverWorld::AllWell(PeerId but) const {
  std::vector<PeerReport> reports;
  for (const PeerId peer : Others(but)) reports.push_back(Well(peer));
  return reports;
}

PeerId HandoverWorld::WaitForSuccessor(PeerId old, Duration at_most) {
  const std::uint64_t term = checker.claims(old).term;
  const auto leader = [&] {
    const PeerId now = checker.Leader();
    const bool is_next = now != kNobody && now != old && checker.claims(now).term > term;
    return is_next && checker.Serves(now) ? now : kNobody;
  };
  return cluster.RunUntil([&] { return leader() != kNobody; }, at_most) ? leader() : kNobody;
}

bool HandoverWorld::WaitForMessage(std::size_t before, Duration at_most) {
  return cluster.RunUntil([&] { return checker.sent().size() > before; }, at_most);
}

}  // namespace depfast::adr

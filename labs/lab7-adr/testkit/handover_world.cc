#include "handover_world.h"

#include <memory>

#include "kv_errors.h"

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
      client_(cluster.simulator()) {
  cluster.simulator().AddObserver(this);
  for (PeerId replica = 0; replica < cluster.replicas(); ++replica) FindsNobodySlow(replica);
}

void HandoverWorld::OnRestart(PeerId replica, Time now) {
  cluster.simulator().At(now, [this, replica] { FindsNobodySlow(replica); });
}

void HandoverWorld::Plant(PeerId replica, const PlantHealth& health) {
  client_.Call(replica, health, 1s, [](const auto&) {});
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
  const auto leader = [&] {
    const PeerId now = checker.Leader();
    return now != kNobody && now != old && checker.Serves(now) ? now : kNobody;
  };
  return cluster.RunUntil([&] { return leader() != kNobody; }, at_most) ? leader() : kNobody;
}

bool HandoverWorld::Serves(Duration at_most) {
  for (const Time end = cluster.now() + at_most; cluster.now() < end; cluster.RunFor(10ms)) {
    const PeerId leader = WaitForProposer(end - cluster.now());
    if (leader == kNobody) return false;
    client.set_first(leader);
    if (Do("SET served 1") == kv::Reply::Ok()) return true;
  }
  return false;
}

kv::Reply HandoverWorld::IncrementAt(PeerId leader) {
  for (const Time end = cluster.now() + 2s;; cluster.RunFor(10ms)) {
    const kv::Reply reply = DoAt(leader, kv::Words("INCR n"));
    if (!HasCode(reply, "TRYAGAIN") || cluster.now() >= end) return reply;
  }
}

bool HandoverWorld::WaitForMessage(std::size_t before, Duration at_most) {
  return cluster.RunUntil([&] { return checker.sent().size() > before; }, at_most);
}

std::optional<raft::TimeoutNowReply> HandoverWorld::Tell(PeerId replica,
                                                         const raft::TimeoutNow& message,
                                                         bool with_heartbeats) {
  struct Told {
    bool is_over = false;
    std::optional<raft::TimeoutNowReply> answer;
  };
  const auto told = std::make_shared<Told>();
  const auto send_heartbeat = [&] {
    raft::AppendEntries heartbeat;
    heartbeat.term = message.term;
    heartbeat.leader = message.leader;
    client_.Call(replica, heartbeat, 1s, [](const auto&) {});
  };
  for (int i = 0; with_heartbeats && i < 4; ++i) send_heartbeat();
  client_.Call(replica, message, 1s, [told](const auto& answer) { *told = {true, answer}; });
  if (with_heartbeats) send_heartbeat();
  cluster.RunUntil([&] { return told->is_over; }, 2s);
  EXPECT_TRUE(told->answer) << "replica " << replica << " does not answer a TimeoutNow";
  return told->answer;
}

}  // namespace depfast::adr

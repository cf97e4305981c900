#include "handover_world.h"

#include <memory>
#include <variant>

#include "kv_errors.h"
#include "raft_wal.h"

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
      written_(static_cast<std::size_t>(options.replicas)),
      client_(cluster.simulator()) {
  cluster.simulator().AddObserver(this);
  for (PeerId replica = 0; replica < cluster.replicas(); ++replica) FindsNobodySlow(replica);
}

void HandoverWorld::OnOutputsLeave(PeerId replica, Time, const std::vector<sim::Output>& outputs) {
  for (const sim::Output& one : outputs) {
    const auto* write = std::get_if<IoRequest>(&one);
    const bool is_append = write != nullptr && write->kind == IoRequest::Kind::kAppend;
    if (!is_append || !write->sync || write->file != raft::kWalFile) continue;
    auto& [number, bytes] = written_[static_cast<std::size_t>(replica)];
    ++number;
    bytes += write->data->size();
  }
}

void HandoverWorld::OnRestart(PeerId replica, Time now) {
  written_[static_cast<std::size_t>(replica)] = {};
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
  const auto send_heartbeats = [&](int count) {
    raft::AppendEntries heartbeat;
    heartbeat.term = message.term;
    heartbeat.leader = message.leader;
    for (int i = 0; i < count; ++i) client_.Call(replica, heartbeat, 1s, [](const auto&) {});
  };
  if (with_heartbeats) send_heartbeats(4);
  const auto asked = Ask(replica, message);
  if (with_heartbeats) send_heartbeats(1);
  const auto answer = AnswerOf(asked);
  EXPECT_TRUE(answer) << "replica " << replica << " does not answer a TimeoutNow";
  return answer;
}

HandoverWorld::Syncs HandoverWorld::Measured(PeerId replica) {
  const auto answer =
      AnswerOf(Ask(replica, PlantHealth{.suspicion = {}, .reports = AllWell(replica)}));
  return answer ? Syncs(answer->syncs, answer->bytes) : Syncs();
}

template <typename Request>
std::shared_ptr<HandoverWorld::Asked<Request>> HandoverWorld::Ask(PeerId replica,
                                                                  const Request& request) {
  const auto asked = std::make_shared<Asked<Request>>();
  client_.Call(replica, request, 1s, [asked](const auto& answer) { *asked = {true, answer}; });
  return asked;
}

template <typename Request>
std::optional<typename Request::Reply> HandoverWorld::AnswerOf(
    const std::shared_ptr<Asked<Request>>& asked) {
  cluster.RunUntil([&] { return asked->is_over; }, 2s);
  return asked->answer;
}

}  // namespace depfast::adr

#include "raft_world.h"

#include <memory>
#include <utility>

namespace depfast::raft {

RaftWorld::RaftWorld(const testkit::ClusterOptions& options)
    : cluster(options),
      checker(cluster.simulator(), &cluster.history()),
      client(cluster.simulator()) {
  cluster.Start();
}

RaftWorld::~RaftWorld() {
  if (!cluster.first_death().empty()) ADD_FAILURE() << cluster.first_death();
  if (!checker.violations().empty()) ADD_FAILURE() << checker.FirstViolation();
}

PeerId RaftWorld::WaitForLeader(Duration at_most) {
  const bool found = cluster.RunUntil(
      [this] {
        const PeerId leader = checker.Leader();
        return leader != kNobody && checker.claims(leader).applied_index > 0;
      },
      at_most);
  return found ? checker.Leader() : kNobody;
}

void RaftWorld::SubmitOne() { Submit(nullptr); }

void RaftWorld::Submit(std::function<void(bool)> then) {
  constexpr std::size_t kBytes = 100;
  const std::string command = CommandText(++submitted_, kBytes);
  client.Submit(command, [this, hash = CommandHash(command), then](bool committed) {
    if (committed) acknowledged_.push_back(hash);
    if (then) then(committed);
  });
}

bool RaftWorld::Commit(int count, Duration at_most) {
  const auto left = std::make_shared<int>(count);
  for (int i = 0; i < count; ++i) SubmitUntilCommitted(left, cluster.now() + at_most);
  return cluster.RunUntil([&] { return *left == 0; }, at_most);
}

void RaftWorld::SubmitUntilCommitted(const std::shared_ptr<int>& left, Time limit) {
  Submit([this, left, limit](bool committed) {
    if (committed) {
      --*left;
    } else if (cluster.now() < limit) {
      SubmitUntilCommitted(left, limit);  // its fate is unknown: a new command takes its place
    }
  });
}

bool RaftWorld::WaitForAllApplied(Duration at_most) {
  return cluster.RunUntil(
      [this] {
        for (PeerId id = 0; id < cluster.replicas(); ++id) {
          if (!cluster.simulator().IsUp(id)) continue;
          if (checker.claims(id).applied_index < checker.MaxCommitIndex()) return false;
        }
        return checker.commands_applied() >= acknowledged();
      },
      at_most);
}

testing::AssertionResult RaftWorld::IsSound() const {
  if (!cluster.first_death().empty() || !checker.violations().empty()) {
    return testing::AssertionFailure() << "the end of this report says why";  // the destructor does
  }
  for (const std::uint64_t hash : acknowledged_) {
    const std::uint64_t times = checker.TimesApplied(hash);
    if (times != 1) {
      return testing::AssertionFailure()
             << "a command that was acknowledged once has been applied " << times << " times";
    }
  }
  return testing::AssertionSuccess();
}

std::vector<PeerId> RaftWorld::Others(PeerId replica) const {
  std::vector<PeerId> others;
  for (PeerId id = 0; id < cluster.replicas(); ++id) {
    if (id != replica) others.push_back(id);
  }
  return others;
}

}  // namespace depfast::raft

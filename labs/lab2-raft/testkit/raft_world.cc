#include "raft_world.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace depfast::raft {

RaftWorld::RaftWorld(const testkit::ClusterOptions& options, Persistence persistence)
    : SubmitWorld(options,
                  [persistence](const sim::GroupView& group, testkit::History& history) {
                    return std::make_unique<RaftChecker>(group, &history,
                                                         RaftChecker::Machine::kTally, persistence);
                  }),
      checker(dynamic_cast<RaftChecker&>(log())) {
  cluster.Start();
}

PeerId RaftWorld::WaitForElection(Duration at_most) {
  cluster.RunUntil([this] { return checker.Leader() != kNobody; }, at_most);
  return checker.Leader();
}

testing::AssertionResult RaftWorld::CommitBytes(std::size_t bytes, Duration at_most) {
  constexpr std::size_t kAtOnce = 16;
  const Time limit = cluster.now() + at_most;
  for (std::size_t left = bytes / kLargeCommandBytes; left > 0;) {
    const std::size_t some = std::min(left, kAtOnce);
    const auto committed =
        Commit(static_cast<int>(some), limit - cluster.now(), kLargeCommandBytes);
    if (!committed) return committed;
    left -= some;
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult RaftWorld::WaitForAllApplied(Duration at_most) {
  const auto have_all = [this] {
    return HaveAllApplied() && checker.commands_applied() >= acknowledged();
  };
  if (cluster.RunUntil(have_all, at_most)) return testing::AssertionSuccess();
  if (!HaveAllApplied()) return NotAllApplied(at_most);
  return testing::AssertionFailure()
         << acknowledged() << " commands were acknowledged, and only " << checker.commands_applied()
         << " were applied within " << at_most / 1ms << " ms";
}

}  // namespace depfast::raft

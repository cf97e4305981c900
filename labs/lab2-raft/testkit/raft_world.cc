#include "raft_world.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace depfast::raft {
namespace {

constexpr std::size_t kCommandBytes = 100;

}  // namespace

RaftWorld::RaftWorld(const testkit::ClusterOptions& options, Persistence persistence)
    : LogWorld(options,
               [persistence](const sim::GroupView& group, testkit::History& history) {
                 return std::make_unique<RaftChecker>(group, &history, RaftChecker::Machine::kTally,
                                                      persistence);
               }),
      checker(dynamic_cast<RaftChecker&>(log())),
      client(cluster.simulator()) {
  cluster.Start();
}

PeerId RaftWorld::WaitForElection(Duration at_most) {
  cluster.RunUntil([this] { return checker.Leader() != kNobody; }, at_most);
  return checker.Leader();
}

void RaftWorld::SubmitOne() { Submit(kCommandBytes, nullptr); }

void RaftWorld::SubmitOneLarge() { Submit(kLargeCommandBytes, nullptr); }

void RaftWorld::Submit(std::size_t bytes, std::function<void(bool)> then) {
  const std::string text = CommandText(++submitted_, bytes);
  client.Submit(text, [this, command = DigestOf(text), then](bool committed) {
    if (committed) acknowledged_.push_back(command);
    if (then) then(committed);
  });
}

testing::AssertionResult RaftWorld::Commit(int count, Duration at_most) {
  return Commit(count, kCommandBytes, at_most);
}

testing::AssertionResult RaftWorld::CommitBytes(std::size_t bytes, Duration at_most) {
  constexpr std::size_t kAtOnce = 16;
  const Time limit = cluster.now() + at_most;
  for (std::size_t left = bytes / kLargeCommandBytes; left > 0;) {
    const std::size_t some = std::min(left, kAtOnce);
    const auto committed =
        Commit(static_cast<int>(some), kLargeCommandBytes, limit - cluster.now());
    if (!committed) return committed;
    left -= some;
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult RaftWorld::Commit(int count, std::size_t bytes, Duration at_most) {
  const auto left = std::make_shared<int>(count);
  for (int i = 0; i < count; ++i) SubmitUntilCommitted(bytes, left, cluster.now() + at_most);
  if (cluster.RunUntil([&] { return *left == 0; }, at_most)) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << count - *left << " of " << count << " commands were committed within " << at_most / 1ms
         << " ms";
}

void RaftWorld::SubmitUntilCommitted(std::size_t bytes, const std::shared_ptr<int>& left,
                                     Time limit) {
  Submit(bytes, [this, bytes, left, limit](bool committed) {
    if (committed) {
      --*left;
    } else if (cluster.now() < limit) {
      SubmitUntilCommitted(bytes, left, limit);  // its outcome is unknown: another takes its place
    }
  });
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

testing::AssertionResult RaftWorld::AllInvariantsHold() const {
  if (const auto held = LogWorld::AllInvariantsHold(); !held) return held;
  for (const CommandDigest& command : acknowledged_) {
    const std::uint64_t times = checker.TimesApplied(command);
    if (times != 1) {
      return testing::AssertionFailure()
             << "a command that was acknowledged once has been applied " << times << " times";
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace depfast::raft

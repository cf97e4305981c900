#include "saucr_world.h"

#include <algorithm>

namespace depfast::saucr {

SaucrWorld::SaucrWorld(const testkit::ClusterOptions& options, Parts parts)
    : SubmitWorld(options,
                  [parts](const sim::GroupView& group, testkit::History& history) {
                    return std::make_unique<SaucrChecker>(group, &history,
                                                          SaucrChecker::Machine::kTally, parts);
                  }),
      checker(dynamic_cast<SaucrChecker&>(log())),
      asker(cluster.simulator()) {
  checker.MarkIn(cluster.recorder());
  cluster.Start();
}

SaucrWorld::~SaucrWorld() {
  // After a failure the group tells of a violation.
  if (was_asked_ || testing::Test::HasFailure()) return;
  EXPECT_TRUE(AllInvariantsHold());
}

testing::AssertionResult SaucrWorld::Commit(int count, Duration at_most, std::size_t bytes) {
  auto result = SubmitWorld::Commit(count, at_most, bytes);
  if (result) return result;
  if (Leader() == kNobody) return result << ": nobody leads (R25, R29)";
  return result << (checker.ServesIn(Mode::kFast)
                        ? ": the leader is in fast mode (R1, R3 (a), R15)"
                        : ": the leader is in slow mode, or serves no more (R2, R3 (b), R6)");
}

testing::AssertionResult SaucrWorld::BeginFast(int count) {
  auto result = WaitForMode(Mode::kFast);
  if (result) result = Commit(count);
  return result ? WaitForAllApplied() : result;
}

testing::AssertionResult SaucrWorld::LeaveABareMajority() {
  const auto followers = Followers();
  cluster.Crash(followers[0]);
  cluster.Crash(followers[1]);
  return WaitForMode(Mode::kSlow);
}

testing::AssertionResult SaucrWorld::ServesAgain() {
  cluster.Heal();
  const auto result = Commit(5);
  return result ? WaitForAllApplied(6s) : result;
}

testing::AssertionResult SaucrWorld::WaitForMode(Mode mode, Duration at_most) {
  if (cluster.RunUntil([&] { return checker.ServesIn(mode); }, at_most)) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure()
         << "no leader serves in " << (mode == Mode::kFast ? "fast" : "slow") << " mode within "
         << at_most / 1ms << " ms (" << (mode == Mode::kFast ? "R7" : "R6")
         << "; R3 commits a leader's first entry)";
}

std::vector<PeerId> SaucrWorld::Followers() const {
  std::vector<PeerId> followers = Others(Leader());
  std::erase_if(followers, [this](PeerId id) { return !group().IsUp(id); });
  return followers;
}

testing::AssertionResult SaucrWorld::BeginInMemory() {
  if (const auto is_fast = BeginFast(1); !is_fast) return is_fast;
  const Duration since = cluster.now() % kBackgroundFlush;
  cluster.RunFor(kBackgroundFlush + 10ms - since);
  return testing::AssertionSuccess();
}

EntryId SaucrWorld::LastCommitted() const {
  EntryId last;
  for (PeerId id = 0; id < group().replicas(); ++id) {
    last = std::max(last, checker.claims(id).applied);
  }
  return last;
}

testing::AssertionResult SaucrWorld::AllInvariantsHold() const {
  was_asked_ = true;
  return SubmitWorld::AllInvariantsHold();
}

}  // namespace depfast::saucr

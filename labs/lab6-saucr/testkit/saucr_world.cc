#include "saucr_world.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace depfast::saucr {
SaucrWorld::SaucrWorld(const testkit::ClusterOptions& options, Parts parts)
    : LogWorld(options,
               [parts](const sim::GroupView& group, testkit::History& history) {
                 return std::make_unique<SaucrChecker>(group, &history,
                                                       SaucrChecker::Machine::kTally, parts);
               }),
      checker(dynamic_cast<SaucrChecker&>(log())),
      client(cluster.simulator()),
      asker(cluster.simulator()) {
  cluster.Start();
}

SaucrWorld::~SaucrWorld() {
  // After a failure the group tells of a violation.
  if (was_asked_ || testing::Test::HasFailure()) return;
  EXPECT_TRUE(AllInvariantsHold());
}

testing::AssertionResult SaucrWorld::BeginFast(int count) {
  auto result = WaitForMode(Mode::kFast);
  if (result) result = Commit(count);
  return result ? WaitForAllApplied() : result;
}

testing::AssertionResult SaucrWorld::ServesAgain() {
  cluster.Heal();
  const auto result = Commit(5);
  return result ? WaitForAllApplied(6s) : result;
}

testing::AssertionResult SaucrWorld::WaitForMode(Mode mode, Duration at_most) {
  const auto is_there = [&] {
    const PeerId leader = Leader();
    return leader != kNobody && checker.Serves(leader) && checker.claims(leader).mode == mode;
  };
  if (cluster.RunUntil(is_there, at_most)) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "no leader serves in " << (mode == Mode::kFast ? "fast" : "slow") << " mode within "
         << at_most / 1ms << " ms";
}

std::vector<PeerId> SaucrWorld::Followers() const {
  std::vector<PeerId> followers = Others(Leader());
  std::erase_if(followers, [this](PeerId id) { return !group().IsUp(id); });
  return followers;
}

void SaucrWorld::SubmitOne(std::size_t bytes) { Submit(nullptr, bytes); }

void SaucrWorld::Submit(std::function<void(bool)> then, std::size_t bytes) {
  const std::string text = CommandText(++submitted_, bytes);
  client.Submit(text, [this, command = DigestOf(text), then](bool committed) {
    if (committed) acknowledged_.push_back(command);
    if (then) then(committed);
  });
}

testing::AssertionResult SaucrWorld::Commit(int count, Duration at_most) {
  const auto left = std::make_shared<int>(count);
  for (int i = 0; i < count; ++i) SubmitUntilCommitted(left, cluster.now() + at_most);
  if (cluster.RunUntil([&] { return *left == 0; }, at_most)) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << count - *left << " of " << count << " commands were committed within " << at_most / 1ms
         << " ms";
}

void SaucrWorld::SubmitUntilCommitted(const std::shared_ptr<int>& left, Time limit) {
  Submit([this, left, limit](bool committed) {
    if (committed) {
      --*left;
    } else if (cluster.now() < limit) {
      SubmitUntilCommitted(left, limit);
    }
  });
}

Duration SaucrWorld::SlowestOf(int count) {
  constexpr Duration kAtMost = 5s;
  Duration slowest{0};
  for (int i = 0; i < count; ++i) {
    const Time begun = cluster.now();
    const auto outcome = std::make_shared<std::optional<bool>>();
    Submit([outcome](bool committed) { *outcome = committed; });
    cluster.RunUntil([&] { return outcome->has_value(); }, kAtMost);
    if (!outcome->value_or(false)) return kForever;
    slowest = std::max(slowest, cluster.now() - begun);
  }
  return slowest;
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
  if (const auto held = LogWorld::AllInvariantsHold(); !held) return held;
  for (const CommandDigest& command : acknowledged_) {
    const std::uint64_t times = checker.TimesApplied(command);
    if (times != 1) {
      return testing::AssertionFailure()
             << "a command that was acknowledged once has been committed " << times << " times";
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace depfast::saucr

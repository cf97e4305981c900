#include "copilot_world.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace depfast::copilot {
namespace {

constexpr std::size_t kCommandBytes = 100;

testing::AssertionResult NotCommitted(int committed, int of, Duration within) {
  return testing::AssertionFailure() << committed << " of " << of
                                     << " commands were committed within " << within / 1ms << " ms";
}

}  // namespace

CopilotWorld::CopilotWorld(const testkit::ClusterOptions& options)
    : LogWorld(options,
               [](const sim::GroupView& group, testkit::History& history) {
                 return std::make_unique<CopilotChecker>(group, &history);
               }),
      checker(dynamic_cast<CopilotChecker&>(log())),
      client(cluster.simulator(), {.targets = 2}) {
  cluster.Start();
}

testing::AssertionResult CopilotWorld::WaitForPilots(Duration at_most) {
  constexpr Duration kUntilAllHear = 100ms;
  const bool serve = cluster.RunUntil([this] { return checker.Proposers().size() == 2; }, at_most);
  const std::size_t serving = checker.Proposers().size();
  cluster.RunFor(kUntilAllHear);
  if (serve) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << serving << " of 2 pilots served clients within " << at_most / 1ms << " ms";
}

void CopilotWorld::SubmitOne(std::size_t bytes) { Submit(nullptr, bytes); }

void CopilotWorld::SubmitEvery(Duration interval, int count) {
  for (int i = 0; i < count; ++i) {
    SubmitOne();
    cluster.RunFor(interval);
  }
}

void CopilotWorld::Submit(std::function<void(bool)> then, std::size_t bytes) {
  const std::string text = CommandText(++submitted_, bytes);
  client.Submit(text, [this, command = DigestOf(text), then](bool committed) {
    if (committed) acknowledged_.push_back(command);
    if (then) then(committed);
  });
}

bool CopilotWorld::SubmitAndWait(Duration at_most, std::size_t bytes) {
  const auto outcome = std::make_shared<std::optional<bool>>();
  Submit([outcome](bool committed) { *outcome = committed; }, bytes);
  cluster.RunUntil([&] { return outcome->has_value(); }, at_most);
  return outcome->value_or(false);
}

Duration CopilotWorld::SlowestOf(int count, Duration at_most) {
  Duration slowest{0};
  for (int i = 0; i < count; ++i) {
    const Time begun = cluster.now();
    if (!SubmitAndWait(at_most, kCommandBytes)) return kForever;
    slowest = std::max(slowest, cluster.now() - begun);
  }
  return slowest;
}

testing::AssertionResult CopilotWorld::CommitLarge(int count, std::size_t bytes) {
  constexpr Duration kAtMost = 5s;
  for (int i = 0; i < count; ++i) {
    if (!SubmitAndWait(kAtMost, bytes)) return NotCommitted(i, count, kAtMost);
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult CopilotWorld::Commit(int count, Duration at_most) {
  const auto left = std::make_shared<int>(count);
  for (int i = 0; i < count; ++i) SubmitUntilCommitted(left, cluster.now() + at_most);
  if (cluster.RunUntil([&] { return *left == 0; }, at_most)) return testing::AssertionSuccess();
  return NotCommitted(count - *left, count, at_most);
}

void CopilotWorld::SubmitUntilCommitted(const std::shared_ptr<int>& left, Time limit) {
  const auto then = [this, left, limit](bool committed) {
    if (committed) {
      --*left;
    } else if (cluster.now() < limit) {
      SubmitUntilCommitted(left, limit);
    }
  };
  Submit(then, kCommandBytes);
}

testing::AssertionResult CopilotWorld::AllInvariantsHold() const {
  if (const auto held = LogWorld::AllInvariantsHold(); !held) return held;
  const bool applied = std::ranges::all_of(
      acknowledged_, [this](const CommandDigest& command) { return checker.HasApplied(command); });
  if (applied) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "a command that was acknowledged has not been applied";
}

}  // namespace depfast::copilot

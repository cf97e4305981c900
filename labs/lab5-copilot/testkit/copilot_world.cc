#include "copilot_world.h"

#include <memory>

namespace depfast::copilot {

CopilotWorld::CopilotWorld(const testkit::ClusterOptions& options)
    : SubmitWorld(options,
                  [](const sim::GroupView& group, testkit::History& history) {
                    return std::make_unique<CopilotChecker>(group, &history);
                  },
                  {.targets = 2}),
      checker(dynamic_cast<CopilotChecker&>(log())) {
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

void CopilotWorld::SubmitEvery(Duration interval, int count) {
  for (int i = 0; i < count; ++i) {
    SubmitOne();
    cluster.RunFor(interval);
  }
}

testing::AssertionResult CopilotWorld::CommitLarge(int count, std::size_t bytes) {
  constexpr Duration kAtMost = 5s;
  for (int i = 0; i < count; ++i) {
    if (SubmitAndWait(kAtMost, bytes)) continue;
    return testing::AssertionFailure() << "command " << i << " of " << count
                                       << " was not committed within " << kAtMost / 1ms << " ms";
  }
  return testing::AssertionSuccess();
}

}  // namespace depfast::copilot

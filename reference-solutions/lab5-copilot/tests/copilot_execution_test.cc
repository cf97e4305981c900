// The order in which Copilot's entries run: all pairs of short logs, as any replica may know them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "copilot_rules.h"
#include "execution_order.h"

namespace depfast::copilot {
namespace {

constexpr EntryIndex kLongest = 3;

using Log = Decisions;
using Order = std::vector<std::string>;

const NextRule kNext = RuleOf(&NextToRun);

TEST(CopilotExecution, TheOrderIsTheSameWhateverAReplicaKnows) {
  const TriedLogs tried = TryAllLogs(kNext, kLongest);
  EXPECT_GT(tried.pairs, 5'000U);
  EXPECT_EQ(tried.bad, 0U) << "of " << tried.pairs;
}

TEST(CopilotExecution, AnEntryRunsAfterItsDependency) {
  const Log first{{.dependency = 0}};
  const Log second{{.dependency = 1}};
  EXPECT_EQ(kNext(second, 0, {}, 0), Next::kNothing);
  EXPECT_EQ(kNext({}, 0, first, 0), Next::kCopilot);
  EXPECT_EQ(OrderBy(kNext, second, first), (Order{"Q.1", "P.1"}));
  // In a cycle the pilot's entry runs first, and a cycle may be long.
  EXPECT_EQ(kNext({}, 0, second, 0), Next::kNothing);
  EXPECT_EQ(OrderBy(kNext, second, second), (Order{"P.1", "Q.1"}));
  const Log two{{.dependency = 1}, {.dependency = 0}};
  EXPECT_EQ(OrderBy(kNext, two, Log{{.dependency = 2}}), (Order{"P.1", "P.2", "Q.1"}));
  // A no-op orders nothing.
  const Log after_a_no_op{{.no_op = true}, {.dependency = 1}};
  EXPECT_EQ(kNext(after_a_no_op, 0, {}, 0), Next::kPilot);
  EXPECT_EQ(kNext(after_a_no_op, 1, {}, 0), Next::kNothing);
  EXPECT_EQ(OrderBy(kNext, after_a_no_op, first), (Order{"Q.1", "P.2"}));
}

// If the copilot's entry ran first in a cycle on the replicas that know more of its log.
Next ByWhatIsKnown(const Log& pilot, EntryIndex pilot_ran, const Log& copilot,
                   EntryIndex copilot_ran) {
  const Next next = kNext(pilot, pilot_ran, copilot, copilot_ran);
  const bool cycle =
      next == Next::kPilot && kNext(pilot, pilot_ran, {}, copilot_ran) == Next::kNothing;
  return cycle && copilot.size() > pilot.size() ? Next::kCopilot : next;
}

TEST(CopilotWhatIf, ACycleWereBrokenByWhatAReplicaKnows) {
  EXPECT_GT(TryAllLogs(&ByWhatIsKnown, kLongest).bad, 0U);
}

// If the smaller dependency ran first in a cycle, all replicas would agree: it would do.
TEST(CopilotWhatIf, ACycleWereBrokenByTheSmallerDependency) {
  const NextRule rule = [](const Log& pilot, EntryIndex pilot_ran, const Log& copilot,
                           EntryIndex copilot_ran) {
    const Next next = kNext(pilot, pilot_ran, copilot, copilot_ran);
    const bool cycle =
        next == Next::kPilot && kNext(pilot, pilot_ran, {}, copilot_ran) == Next::kNothing;
    const bool is_smaller = cycle && copilot[copilot_ran].dependency < pilot[pilot_ran].dependency;
    return is_smaller ? Next::kCopilot : next;
  };
  EXPECT_EQ(TryAllLogs(rule, kLongest).bad, 0U);
}

// If a no-op kept the dependency that its entry had.
TEST(CopilotWhatIf, ANoOpWaited) {
  const NextRule rule = [](const Log& pilot, EntryIndex pilot_ran, const Log& copilot,
                           EntryIndex copilot_ran) {
    Log with(pilot.begin(), pilot.end());
    for (Value& each : with) each = each.no_op ? Value{.dependency = kLongest} : each;
    return kNext(with, pilot_ran, copilot, copilot_ran);
  };
  EXPECT_GT(TryAllLogs(rule, kLongest).bad, 0U);
}

}  // namespace
}  // namespace depfast::copilot

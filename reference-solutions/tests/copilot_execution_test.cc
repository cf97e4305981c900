// The order in which Copilot's entries run: all pairs of short logs, as any replica may know them.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "copilot_rules.h"

namespace depfast::copilot {
namespace {

constexpr EntryIndex kLongest = 3;

using Log = std::vector<Value>;
using Order = std::vector<std::string>;  // the entries that are no no-ops, such as "P.1"

// All logs of that length. An entry is a no-op, or depends on any of `others` entries or on none.
void ForEachLog(EntryIndex length, EntryIndex others, const std::function<void(const Log&)>& use,
                Log log = {}) {
  if (log.size() == length) {
    use(log);
    return;
  }
  for (EntryIndex dependency = 0; dependency <= others + 1; ++dependency) {
    Log longer = log;
    longer.push_back(dependency > others ? Value{.no_op = true} : Value{.dependency = dependency});
    ForEachLog(length, others, use, std::move(longer));
  }
}

// Whether one of any two entries that are no no-ops depends on the other, as commits ensure.
bool IsOrdered(const Log& pilot, const Log& copilot) {
  for (std::size_t i = 0; i < pilot.size(); ++i) {
    for (std::size_t j = 0; j < copilot.size(); ++j) {
      if (pilot[i].no_op || copilot[j].no_op) continue;
      if (pilot[i].dependency <= j && copilot[j].dependency <= i) return false;
    }
  }
  return true;
}

// What runs next by the first entries of both logs.
using NextRule = Next (*)(const Log& pilot, EntryIndex pilot_ran, const Log& copilot,
                          EntryIndex copilot_ran);

std::optional<Value> After(const Log& log, EntryIndex ran) {
  return ran < log.size() ? std::optional(log[ran]) : std::nullopt;
}

Next NextOf(const Log& pilot, EntryIndex pilot_ran, const Log& copilot, EntryIndex copilot_ran) {
  return NextToRun(After(pilot, pilot_ran), pilot_ran, After(copilot, copilot_ran), copilot_ran);
}

// What runs on a replica that knows so many entries of each log.
Order OrderBy(NextRule rule, const Log& pilot, std::size_t knows_p, const Log& copilot,
              std::size_t knows_q) {
  const Log known_p(pilot.begin(), pilot.begin() + static_cast<std::ptrdiff_t>(knows_p));
  const Log known_q(copilot.begin(), copilot.begin() + static_cast<std::ptrdiff_t>(knows_q));
  Order order;
  EntryIndex p = 0;
  EntryIndex q = 0;
  while (true) {
    const Next next = rule(known_p, p, known_q, q);
    if (next == Next::kNothing) return order;
    const bool is_pilot = next == Next::kPilot;
    const Value& entry = is_pilot ? pilot[p++] : copilot[q++];
    if (entry.no_op) continue;
    order.push_back(is_pilot ? "P." + std::to_string(p) : "Q." + std::to_string(q));
  }
}

bool IsPrefix(const Order& shorter, const Order& longer) {
  return shorter.size() <= longer.size() &&
         std::equal(shorter.begin(), shorter.end(), longer.begin());
}

struct Tried {
  std::size_t pairs = 0;
  std::size_t bad = 0;  // pairs of logs that two replicas may run in different orders, or stop in
};

Tried TryAll(NextRule rule) {
  Tried tried;
  for (EntryIndex ps = 0; ps <= kLongest; ++ps) {
    for (EntryIndex qs = 0; qs <= kLongest; ++qs) {
      ForEachLog(ps, qs, [&](const Log& pilot) {
        ForEachLog(qs, ps, [&](const Log& copilot) {
          if (!IsOrdered(pilot, copilot)) return;
          ++tried.pairs;
          const Order whole = OrderBy(rule, pilot, ps, copilot, qs);
          const auto real = [](const Value& each) { return !each.no_op; };
          bool good = std::cmp_equal(whole.size(), std::ranges::count_if(pilot, real) +
                                                       std::ranges::count_if(copilot, real));
          for (std::size_t p = 0; p <= ps; ++p) {
            for (std::size_t q = 0; q <= qs; ++q) {
              good = good && IsPrefix(OrderBy(rule, pilot, p, copilot, q), whole);
            }
          }
          tried.bad += good ? 0 : 1;
        });
      });
    }
  }
  return tried;
}

TEST(CopilotExecution, TheOrderIsTheSameWhateverAReplicaKnows) {
  const Tried tried = TryAll(&NextOf);
  EXPECT_GT(tried.pairs, 5'000U);
  EXPECT_EQ(tried.bad, 0U) << "of " << tried.pairs;
}

TEST(CopilotExecution, AnEntryWaitsForItsDependency) {
  const Log pilot{{.dependency = 1}};
  const Log copilot{{.dependency = 0}};
  EXPECT_EQ(NextOf(pilot, 0, {}, 0), Next::kNothing);
  EXPECT_EQ(NextOf({}, 0, copilot, 0), Next::kCopilot);
  EXPECT_EQ(OrderBy(&NextOf, pilot, 1, copilot, 1), (Order{"Q.1", "P.1"}));
}

TEST(CopilotExecution, OfACycleThePilotsEntryRunsFirst) {
  const Log pilot{{.dependency = 1}};
  const Log copilot{{.dependency = 1}};
  EXPECT_EQ(NextOf({}, 0, copilot, 0), Next::kNothing);
  EXPECT_EQ(OrderBy(&NextOf, pilot, 1, copilot, 1), (Order{"P.1", "Q.1"}));
}

TEST(CopilotExecution, ACycleMayBeLong) {
  const Log pilot{{.dependency = 1}, {.dependency = 0}};
  const Log copilot{{.dependency = 2}};
  EXPECT_EQ(OrderBy(&NextOf, pilot, 2, copilot, 1), (Order{"P.1", "P.2", "Q.1"}));
}

TEST(CopilotExecution, ANoOpOrdersNothing) {
  const Log pilot{{.no_op = true}, {.dependency = 1}};
  const Log copilot{{.dependency = 0}};
  EXPECT_EQ(NextOf(pilot, 0, {}, 0), Next::kPilot);
  EXPECT_EQ(NextOf(pilot, 1, {}, 0), Next::kNothing);
  EXPECT_EQ(OrderBy(&NextOf, pilot, 2, copilot, 1), (Order{"Q.1", "P.2"}));
}

// What if the copilot's entry ran first in a cycle on the replicas that know more of its log?
Next ByWhatIsKnown(const Log& pilot, EntryIndex pilot_ran, const Log& copilot,
                   EntryIndex copilot_ran) {
  const Next next = NextOf(pilot, pilot_ran, copilot, copilot_ran);
  const bool cycle =
      next == Next::kPilot && NextOf(pilot, pilot_ran, {}, copilot_ran) == Next::kNothing;
  return cycle && copilot.size() > pilot.size() ? Next::kCopilot : next;
}

TEST(CopilotWhatIf, ACycleWereBrokenByWhatAReplicaKnows) {
  EXPECT_GT(TryAll(&ByWhatIsKnown).bad, 0U);
}

// What if a no-op kept the dependency that its entry had?
TEST(CopilotWhatIf, ANoOpWaited) {
  const NextRule rule = [](const Log& pilot, EntryIndex pilot_ran, const Log& copilot,
                           EntryIndex copilot_ran) {
    Log with(pilot.begin(), pilot.end());
    for (Value& each : with) each = each.no_op ? Value{.dependency = kLongest} : each;
    return NextOf(with, pilot_ran, copilot, copilot_ran);
  };
  EXPECT_GT(TryAll(rule).bad, 0U);
}

}  // namespace
}  // namespace depfast::copilot

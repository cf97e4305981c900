#include "execution_order.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace depfast::copilot {
namespace {

using Order = std::vector<std::string>;

// All logs of that length. An entry is a no-op, or depends on any of `others` entries or on none.
void ForEachLog(EntryIndex length, EntryIndex others,
                const std::function<void(const Decisions&)>& use, const Decisions& log = {}) {
  if (log.size() == length) {
    use(log);
    return;
  }
  for (EntryIndex dependency = 0; dependency <= others + 1; ++dependency) {
    Decisions longer = log;
    longer.push_back(dependency > others ? Value{.no_op = true} : Value{.dependency = dependency});
    ForEachLog(length, others, use, longer);
  }
}

// Whether of any two entries that are no no-ops one depends on the other, as commits ensure.
bool IsOrdered(const Decisions& pilot, const Decisions& copilot) {
  for (std::size_t i = 0; i < pilot.size(); ++i) {
    for (std::size_t j = 0; j < copilot.size(); ++j) {
      if (pilot[i].no_op || copilot[j].no_op) continue;
      if (pilot[i].dependency <= j && copilot[j].dependency <= i) return false;
    }
  }
  return true;
}

std::optional<Value> After(const Decisions& log, EntryIndex ran) {
  return ran < log.size() ? std::optional(log[ran]) : std::nullopt;
}

Decisions First(const Decisions& log, EntryIndex count) {
  return {log.begin(), log.begin() + static_cast<std::ptrdiff_t>(count)};
}

bool IsPrefix(const Order& shorter, const Order& longer) {
  return shorter.size() <= longer.size() &&
         std::equal(shorter.begin(), shorter.end(), longer.begin());
}

bool IsGood(const NextRule& rule, const Decisions& pilot, const Decisions& copilot) {
  const Order whole = OrderBy(rule, pilot, copilot);
  const auto real = [](const Value& each) { return !each.no_op; };
  if (std::cmp_not_equal(whole.size(), std::ranges::count_if(pilot, real) +
                                           std::ranges::count_if(copilot, real))) {
    return false;
  }
  for (EntryIndex p = 0; p <= pilot.size(); ++p) {
    for (EntryIndex q = 0; q <= copilot.size(); ++q) {
      if (!IsPrefix(OrderBy(rule, First(pilot, p), First(copilot, q)), whole)) return false;
    }
  }
  return true;
}

}  // namespace

NextRule RuleOf(const NextFunction& next) {
  return [next](const Decisions& pilot, EntryIndex pilot_ran, const Decisions& copilot,
                EntryIndex copilot_ran) {
    return next(After(pilot, pilot_ran), pilot_ran, After(copilot, copilot_ran), copilot_ran);
  };
}

std::vector<std::string> OrderBy(const NextRule& rule, const Decisions& pilot,
                                 const Decisions& copilot) {
  Order order;
  EntryIndex p = 0;
  EntryIndex q = 0;
  while (true) {
    const Next next = rule(pilot, p, copilot, q);
    const bool is_pilot = next == Next::kPilot;
    const auto entry = is_pilot ? After(pilot, p) : After(copilot, q);
    if (next == Next::kNothing || !entry) return order;
    const EntryIndex index = is_pilot ? ++p : ++q;
    if (!entry->no_op) order.push_back((is_pilot ? "P." : "Q.") + std::to_string(index));
  }
}

TriedLogs TryAllLogs(const NextRule& rule, EntryIndex longest) {
  TriedLogs tried;
  for (EntryIndex ps = 0; ps <= longest; ++ps) {
    for (EntryIndex qs = 0; qs <= longest; ++qs) {
      ForEachLog(ps, qs, [&](const Decisions& pilot) {
        ForEachLog(qs, ps, [&](const Decisions& copilot) {
          if (!IsOrdered(pilot, copilot)) return;
          ++tried.pairs;
          if (!IsGood(rule, pilot, copilot)) ++tried.bad;
        });
      });
    }
  }
  return tried;
}

}  // namespace depfast::copilot

#include "depfast/verify/window_facts.h"

#include <algorithm>

namespace depfast {
namespace {

constexpr std::int64_t kNsMax = std::int64_t{1} << 50;  // thirteen days
constexpr int kVotersMax = 1000;

bool IsPlausible(const WaitTimes& times) {
  return times.total_ns >= 0 && times.total_ns <= kNsMax && times.worst_ns >= 0 &&
         times.worst_ns <= kNsMax;
}

bool IsPlausible(int needed, int total) {
  return needed >= 0 && needed <= kVotersMax && total >= 0 && total <= kVotersMax;
}

}  // namespace

bool IsPlausible(const WindowFacts& facts) {
  const auto wait_is = [](const WaitFacts& waits) {
    return IsPlausible(waits.needed, waits.total) && IsPlausible(waits.ended) &&
           IsPlausible(waits.on_path) && IsPlausible(waits.open);
  };
  return std::ranges::all_of(facts.waits, wait_is) &&
         std::ranges::all_of(
             facts.quorums,
             [](const QuorumFacts& each) { return IsPlausible(each.needed, each.total); }) &&
         std::ranges::all_of(facts.clients,
                             [](const ClientFacts& each) { return IsPlausible(each.answered); });
}

}  // namespace depfast

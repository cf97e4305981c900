#include "depfast/verify/builtin_detectors.h"

#include <algorithm>

namespace depfast {
namespace {

// The longest wait for `event` in the window, by coroutine. A wait that has not ended counts.
std::map<std::string, std::int64_t> WorstWaits(const ActivityWindow& window,
                                               const std::string& event) {
  std::map<std::string, std::int64_t> worst;
  for (const CoroutineActivity& waits : window.coroutines) {
    if (waits.event != event) continue;
    worst[waits.coroutine] = std::max(waits.ended.worst_ns, waits.open.worst_ns);
  }
  return worst;
}

std::string Milliseconds(std::int64_t ns) {
  return std::to_string(ns / 1'000'000) + "." + std::to_string(ns / 100'000 % 10) + " ms";
}

// "commit-round waited for disk for 12.3 ms"
std::string DescribeWait(const std::string& coroutine, const std::string& event, std::int64_t ns) {
  return coroutine + " waited for " + event + " for " + Milliseconds(ns);
}

}  // namespace

std::vector<Finding> OccupancyDetector::OnWindow(const ActivityWindow& window) {
  if (window.took_ns < kLeastTime.count()) return {};
  const std::int64_t percent = window.cost_ns * 100 / window.took_ns;
  if (percent >= kLeastPercent) return {};
  return {{kNobody, "the processor ran the replica for " + std::to_string(percent) +
                        " % of the time of its steps"}};
}

std::vector<Finding> EventSpikeDetector::OnWindow(const ActivityWindow& window) {
  std::vector<Finding> findings;
  for (const auto& [coroutine, worst] : WorstWaits(window, event_)) {
    std::deque<std::int64_t>& past = worst_ns_[coroutine];
    const bool is_known = past.size() >= kWarmUp;
    if (is_known && worst > kFactor * *std::max_element(past.begin(), past.end())) {
      findings.push_back({kNobody, DescribeWait(coroutine, event_, worst)});
    }
    past.push_back(worst);
    if (past.size() > kRemembered) past.pop_front();
  }
  return findings;
}

std::vector<Finding> EventThresholdDetector::OnWindow(const ActivityWindow& window) {
  std::vector<Finding> findings;
  std::map<std::string, int> in_a_row;
  for (const auto& [coroutine, worst] : WorstWaits(window, event_)) {
    if (worst <= limit_.count()) continue;
    in_a_row[coroutine] = in_a_row_[coroutine] + 1;
    if (in_a_row[coroutine] < windows_) continue;
    findings.push_back({kNobody, DescribeWait(coroutine, event_, worst) + ", in " +
                                     std::to_string(in_a_row[coroutine]) + " windows in a row"});
  }
  in_a_row_ = std::move(in_a_row);
  return findings;
}

}  // namespace depfast

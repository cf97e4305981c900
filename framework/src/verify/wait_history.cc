#include "verify/wait_history.h"

namespace depfast {

void WaitHistory::Begin(TaskId task, TaskId by) {
  if (const WaitId latest = LatestOf(by); latest != kNoWait) latest_of_[task] = latest;
}

void WaitHistory::End(TaskId task) { latest_of_.erase(task); }

void WaitHistory::EndWait(TaskId task, TaskId by, std::size_t row, Time since, Time now) {
  waits_.push_back({since, now, row, LatestOf(task), LatestOf(by)});
  latest_of_[task] = first_ + waits_.size() - 1;
  for (; waits_.front().end + kKept < now; ++first_) waits_.pop_front();
}

WaitHistory::WaitId WaitHistory::LatestOf(TaskId task) const {
  const auto found = latest_of_.find(task);
  return found == latest_of_.end() ? kNoWait : found->second;
}

WaitHistory::Wait* WaitHistory::Find(WaitId id) {
  return id < first_ ? nullptr : &waits_[id - first_];
}

}  // namespace depfast

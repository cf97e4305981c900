// WaitHistory: the waits of a replica's coroutines that are over, and the coroutine that ended
// each.
//
// It finds the path of a request. The coroutine that answers has waited. Another coroutine may have
// ended that wait, and has waited meanwhile, and so on. Only these waits delayed the answer: a wait
// for stragglers after the decision is in no path.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "depfast/time.h"

namespace depfast {

class WaitHistory {
 public:
  // Coroutines, by their ids.
  using TaskId = std::uint64_t;
  static constexpr TaskId kNoTask = 0;  // a message, a disk or a timer

  // Waits are forgotten at this time after their end. A path is followed no further.
  static constexpr Duration kKept = std::chrono::seconds(5);

  // A coroutine is made by the running one; it ends.
  void Begin(TaskId task, TaskId by);
  void End(TaskId task);

  // A wait ends, since the coroutine `by` has decided its event. `row`: the caller's name for it.
  // Requires: no earlier call had a later `now`.
  void EndWait(TaskId task, TaskId by, std::size_t row, Time since, Time now);

  // A coroutine answers a request that came at `came`. Calls `add(row, time)` for each wait of the
  // path, with the time of it that was in no path before.
  template <typename Add>
  void Answer(TaskId task, Time came, const Add& add);

 private:
  // Waits that are over are numbered from 1.
  using WaitId = std::uint64_t;
  static constexpr WaitId kNoWait = 0;

  struct Wait {
    Time since;
    Time end;
    std::size_t row;
    WaitId before;                // the last one of the same coroutine, or of the one that made it
    WaitId ended_by;              // the last one of the coroutine that ended it
    Time followed_from = kNever;  // the path of each request that came since then has been found
  };

  WaitId LatestOf(TaskId task) const;
  Wait* Find(WaitId id);

  std::deque<Wait> waits_;
  WaitId first_ = 1;                              // of waits_
  std::unordered_map<TaskId, WaitId> latest_of_;  // of the coroutines that have waited
};

template <typename Add>
void WaitHistory::Answer(TaskId task, Time came, const Add& add) {
  struct Part {
    WaitId latest;
    Time from;
  };
  std::vector<Part> parts = {{LatestOf(task), came}};
  while (!parts.empty()) {
    const auto [latest, from] = parts.back();
    parts.pop_back();
    for (Wait* wait = Find(latest); wait != nullptr; wait = Find(wait->before)) {
      if (wait->end <= from || wait->followed_from <= from) break;
      const Time begin = std::max(wait->since, from);
      const Time counted = std::clamp(wait->followed_from, begin, wait->end);
      if (counted > begin) add(wait->row, counted - begin);
      wait->followed_from = from;
      parts.push_back({wait->ended_by, begin});
    }
  }
}

}  // namespace depfast

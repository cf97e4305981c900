// FairCore: one core, and the threads that take turns on it, as under Linux's scheduler (EEVDF).
//
// The ready thread that has used the core least runs next. A thread that becomes ready interrupts a
// running thread that has used the core more. A thread that has slept has no claim to the time that
// it did not use: it starts level with the thread that was chosen last. Equal threads run in the
// order in which they became ready.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <optional>
#include <vector>

#include "depfast/time.h"

namespace depfast::sim {

class FairCore {
 public:
  using Thread = std::size_t;  // small numbers

  // The thread that has the core.
  const std::optional<Thread>& running() const { return running_; }

  // The rest of the work in which the thread was interrupted; zero if it was not interrupted.
  Duration left(Thread thread) const {
    return thread < threads_.size() ? threads_[thread].left : Duration(0);
  }

  // `thread` becomes ready. Returns true if the core turns to a thread, which is then running().
  // Requires: `thread` is neither ready nor running.
  bool Enter(Thread thread, Time now) {
    if (thread >= threads_.size()) threads_.resize(thread + 1);
    assert(running_ != thread && std::find(ready_.begin(), ready_.end(), thread) == ready_.end());
    Account& account = threads_[thread];
    account.used = std::max(account.used, level_);
    account.left = Duration(0);
    ready_.push_back(thread);
    if (running_ && !MustYield(account.used, now)) return false;
    if (running_) Interrupt(now);
    Choose();
    return true;
  }

  // The running thread has `work` to do, and begins or resumes it at `from`. Until then no other
  // thread interrupts it.
  void Begin(Time from, Duration work) {
    assert(running_);
    from_ = from;
    threads_[*running_].left = work;
  }

  // `thread` has done its work or is gone; nothing happens if it is neither ready nor running.
  // Returns true if the core turns to a thread, which is then running().
  bool Leave(Thread thread, Time now) {
    std::erase(ready_, thread);
    if (thread < threads_.size()) threads_[thread].left = Duration(0);
    if (running_ != thread) return false;
    threads_[thread].used += UsedSoFar(now);
    running_.reset();
    if (ready_.empty()) return false;
    Choose();
    return true;
  }

 private:
  struct Account {
    Duration used{0};
    Duration left{0};
  };

  // The time that the running thread has used in this turn.
  Duration UsedSoFar(Time now) const { return std::max(now - from_, Duration(0)); }

  bool MustYield(Duration other_has_used, Time now) const {
    const Account& account = threads_[*running_];
    const bool at_work = from_ < now && now < from_ + account.left;
    return at_work && account.used + UsedSoFar(now) > other_has_used;
  }

  void Interrupt(Time now) {
    Account& account = threads_[*running_];
    account.used += UsedSoFar(now);
    account.left -= UsedSoFar(now);
    ready_.push_back(*running_);
  }

  void Choose() {
    const auto next = std::min_element(ready_.begin(), ready_.end(), [this](Thread a, Thread b) {
      return threads_[a].used < threads_[b].used;
    });
    running_ = *next;
    ready_.erase(next);
    level_ = std::max(level_, threads_[*running_].used);
    from_ = kNever;  // until it begins
  }

  std::vector<Account> threads_;
  std::vector<Thread> ready_;  // in the order in which they became so
  std::optional<Thread> running_;
  Time from_ = kNever;  // when running_ began or resumed its work
  Duration level_{0};
};

}  // namespace depfast::sim

// FairCore: one core, and the threads that take turns on it as Linux lets them (EEVDF): next comes
// who has used it least, and whoever becomes ready takes it from somebody who has used more.
//
// A thread that has slept has no claim to the time that it did not use: it starts level with
// whoever was chosen last. Equals are served in the order in which they became ready.
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

  // Who has the core.
  const std::optional<Thread>& running() const { return running_; }

  // What is left of the work in which the thread was interrupted; zero if it was not.
  Duration left(Thread who) const {
    return who < threads_.size() ? threads_[who].left : Duration(0);
  }

  // `who` becomes ready. Returns whether the core turns to a thread because of it: to running().
  // Requires: it is away.
  bool Enter(Thread who, Time now) {
    if (who >= threads_.size()) threads_.resize(who + 1);
    assert(running_ != who && std::find(ready_.begin(), ready_.end(), who) == ready_.end());
    Account& account = threads_[who];
    account.used = std::max(account.used, level_);
    account.left = Duration(0);
    ready_.push_back(who);
    if (running_ && !MustYield(account.used, now)) return false;
    if (running_) Interrupt(now);
    Choose();
    return true;
  }

  // The thread that has the core has work for so long, and begins or resumes it at `from`.
  // Until then nobody takes the core from it.
  void Begin(Time from, Duration work) {
    assert(running_);
    from_ = from;
    threads_[*running_].left = work;
  }

  // `who` has done its work or is gone; nothing happens if it is away. Returns whether the core
  // turns to a thread because of it: to running().
  bool Leave(Thread who, Time now) {
    std::erase(ready_, who);
    if (who < threads_.size()) threads_[who].left = Duration(0);
    if (running_ != who) return false;
    threads_[who].used += UsedSoFar(now);
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

  // By the running thread, in this turn.
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

// Quota: a share of each period, as a cgroup gives a processor (Linux's cpu.max). A user that has
// spent its share is stopped until the next period begins.
//
// So a quota stalls in bursts. Work that fits into the rest of the share takes no longer than
// without a fault. Other work waits for most of a period.
#pragma once

#include <algorithm>

#include "depfast/time.h"

namespace depfast::faults {

class Quota {
 public:
  static constexpr Duration kPeriod = 100ms;  // the default of cpu.max

  // Returns the time that `work` lasts from `now` on, stops included, with `percent` of each
  // period. Threads of one user share its quota: later work gets the rest that earlier work has
  // left. Requires: 1 <= percent <= 100.
  Duration Spend(Time now, Duration work, int percent) {
    return percent == 100 ? work : SpendShare(now, work, percent);
  }

 private:
  // Not inline: steps without the fault must not pay for it.
  [[gnu::noinline]] Duration SpendShare(Time now, Duration work, int percent) {
    const Duration share = kPeriod * percent / 100;
    Time at = std::max(now, period_);
    for (;;) {
      StartPeriodOf(at);
      const Duration left = std::max(share - spent_, Duration::zero());
      const Duration runs = std::min({work, left, period_ + kPeriod - at});
      spent_ += runs;
      work -= runs;
      if (work == Duration::zero()) return at + runs - now;
      at = period_ + kPeriod;
    }
  }

  // Periods are whole multiples of kPeriod in virtual time.
  void StartPeriodOf(Time at) {
    const Time period = at - at % kPeriod;
    if (period > period_) spent_ = Duration::zero();
    period_ = period;
  }

  Time period_{0};     // the latest of which something has been spent
  Duration spent_{0};  // of its share
};

}  // namespace depfast::faults

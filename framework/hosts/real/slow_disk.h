// SlowDisk: makes operations of a disk last the time that the injected faults say.
//
// An operation runs first, and then waits for the rest of its time. The amounts mean what they mean
// in the simulator.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "depfast/time.h"
#include "faults/quota.h"
#include "real/fault_file.h"

namespace depfast::real {

// The time that a thread sees and spends; tests have their own.
struct DiskClock {
  std::function<Time()> now;
  std::function<void(Duration)> sleep;
};

// CLOCK_MONOTONIC.
DiskClock RealDiskClock();

// Any threads may use it: the disk moves the bytes of one after those of another.
class SlowDisk {
 public:
  // Interval at which a wait looks whether the fault is over.
  static constexpr Duration kPatience = 10ms;

  explicit SlowDisk(std::shared_ptr<const FaultFile> faults, DiskClock clock = RealDiskClock());

  Time Now() const { return clock_.now(); }
  // Waits until the operation's bytes have passed at the disk's rate since it began. Returns
  // whether a fault made it last longer.
  bool Finish(Time began, std::int64_t bytes);

 private:
  // Returns early, and false, when the fault is over.
  bool WaitUntil(Time end, faults::FaultKind kind) const;
  // The disk is fast again: it has moved all bytes.
  void ForgetTransfers();

  std::shared_ptr<const FaultFile> faults_;
  DiskClock clock_;
  std::mutex mutex_;  // of all below
  faults::Quota quota_;
  Time moved_{0};  // when the disk has moved all bytes, at its rate
};

}  // namespace depfast::real

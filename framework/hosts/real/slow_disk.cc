#include "real/slow_disk.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "faults/transfer_time.h"

namespace depfast::real {

using faults::FaultKind;

DiskClock RealDiskClock() {
  return {[] { return Time(std::chrono::steady_clock::now().time_since_epoch()); },
          [](Duration time) { std::this_thread::sleep_for(time); }};
}

SlowDisk::SlowDisk(std::shared_ptr<const FaultFile> faults, DiskClock clock)
    : faults_(std::move(faults)), clock_(std::move(clock)) {}

bool SlowDisk::Finish(Time began, std::int64_t bytes) {
  const Time ended = clock_.now();
  const InjectedFaults faults = faults_->At(ended);
  if (faults.empty()) return false;

  const std::int64_t rate = faults.AmountOr(FaultKind::kDiskSlow, 0);
  const bool is_slow = bytes > 0 && rate > 0;
  const Duration transfer = is_slow ? faults::TransferTime(bytes, rate) : Duration::zero();
  const auto percent = static_cast<int>(faults.AmountOr(FaultKind::kDiskContention, 100));
  const Duration delay(faults.AmountOr(FaultKind::kFsDelay, 0));

  Time starts = began;
  Duration lasts{0};
  {
    const std::lock_guard lock(mutex_);
    if (is_slow) starts = std::max(began, moved_);
    moved_ = std::max(moved_, starts + transfer);
    lasts = quota_.Spend(starts, std::max(ended - starts, transfer), percent);
  }
  if (!WaitUntil(starts + transfer, FaultKind::kDiskSlow)) ForgetTransfers();
  WaitUntil(starts + lasts, FaultKind::kDiskContention);
  WaitUntil(starts + lasts + delay, FaultKind::kFsDelay);
  return starts + std::max(transfer, lasts + delay) > ended;
}

bool SlowDisk::WaitUntil(Time end, FaultKind kind) const {
  for (Time now = clock_.now(); now < end; now = clock_.now()) {
    if (!faults_->At(now).Has(kind)) return false;
    clock_.sleep(std::min(end - now, kPatience));
  }
  return true;
}

void SlowDisk::ForgetTransfers() {
  const std::lock_guard lock(mutex_);
  moved_ = Time{0};
}

}  // namespace depfast::real

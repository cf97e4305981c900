#include "yielding.h"

#include <algorithm>

namespace depfast::copilot {
namespace {

// Shares are of 1024. A pilot yields below kUnfair, and begins anew with half.
constexpr int kAll = 1024;
constexpr int kHalf = kAll / 2;
constexpr int kUnfair = kAll * 7 / 16;
// The share is of about so many commands, and one entry is at most half of them.
constexpr int kWindow = 128;

// It is seen in a window of so many commands whether yielding is of use.
constexpr int kAloneWindow = 64;
constexpr int kFirstMax = kAloneWindow / 8;

// A pilot that is still late after a while waits twice as long.
constexpr Duration kRetryMin = 1s;
constexpr Duration kRetryMax = 8s;

constexpr Duration kFirstTime = 2ms;

}  // namespace

Yielding::Yielding() : share_(kHalf), by_other_(kFirstTime), retry_after_(kRetryMin) {}

void Yielding::OnOwnEntry(EntryIndex index, int commands, int first, EntryIndex latest,
                          Duration turn, Time now) {
  if (index > behind_) is_on_trial_ = false;
  if (yields_) {
    if (index > behind_) first_ += first;
    if (first_ >= kFirstMax) End(kHalf);  // the other pilot is later
    return;
  }
  share_ += (kAll * first / commands - share_) * std::min(commands, kWindow / 2) / kWindow;
  if (share_ < kUnfair) {
    Begin(latest, turn, now);
  } else if (share_ >= (kUnfair + kHalf) / 2) {
    retry_after_ = kRetryMin;
  }
}

void Yielding::OnRun(Time since, bool is_ours, Time now) {
  if (!is_ours) by_other_.Add(now - since);
  if (!yields_ || since < settled_) return;
  waited_ += now - since;
  if (++commands_ < kAloneWindow) return;
  const bool is_worse = waited_ / commands_ > mean_before_ * 5 / 4;
  commands_ = first_ = 0;
  waited_ = {};
  if (is_worse) End(kHalf);
}

Time Yielding::DueAt(Time since) const { return std::max(since, settled_) + by_other_.Usual(); }

void Yielding::TryAgainIfDue(Time now) {
  if (!yields_ || now < began_ + retry_after_) return;
  retry_after_ = std::min(2 * retry_after_, kRetryMax);
  End(kUnfair);
  is_on_trial_ = true;
}

void Yielding::Begin(EntryIndex latest, Duration turn, Time now) {
  yields_ = true;
  began_ = now;
  settled_ = now + turn;
  behind_ = latest;
  mean_before_ = by_other_.Mean();
  commands_ = first_ = 0;
  waited_ = {};
}

void Yielding::End(int share) {
  yields_ = false;
  share_ = share;
}

}  // namespace depfast::copilot

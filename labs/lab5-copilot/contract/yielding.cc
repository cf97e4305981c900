#include "yielding.h"

#include <algorithm>
#include <utility>

namespace depfast::copilot {
namespace {

// Shares are of 1024. A pilot yields below kUnfair, and begins anew with half.
constexpr int kAll = 1024;
constexpr int kHalf = kAll / 2;
constexpr int kUnfair = kAll * 7 / 16;
// A share is of about the latest so many commands. An entry is first with all of its commands or
// with none: a large one must not decide alone.
constexpr int kShareWindow = 192;
constexpr int kEntryMax = 12;
// With more waiting commands the cluster is saturated, or a link has stalled. Then entries are
// large, and the shares of healthy pilots are a matter of chance.
constexpr std::size_t kWaitingMax = 48;
// With fewer, the pilot that is nearer to the client is first with all of them, and the other one
// delays nobody.
constexpr std::size_t kWaitingMin = 4;

// The mean latency is that of so many commands.
constexpr int kMeanWindow = 64;
// A pilot that is first with so many commands of a window, although it yields, is the quicker one.
constexpr int kFirstMax = kMeanWindow / 8;

constexpr Duration kHoldMax = 50ms;

// A trial of a pilot that is still late delays about kMeanWindow commands. Each time it waits twice
// as long until the next.
constexpr Duration kRetryMin = 5s;
constexpr Duration kRetryMax = 80s;

constexpr Duration kFirstTime = 2ms;

}  // namespace

Yielding::Yielding() : share_(kHalf), by_other_(kFirstTime), retry_after_(kRetryMin) {}

void Yielding::OnOwnEntry(EntryIndex index, int commands, int first, const Turn& turn) {
  if (yields_) {
    if (index > behind_) first_ += first;
    if (first_ >= kFirstMax) End();
    return;
  }
  if (turn.waiting < kWaitingMin || turn.waiting > kWaitingMax) return;
  share_ += (kAll * first / commands - share_) * std::min(commands, kEntryMax) / kShareWindow;
  if (share_ < kUnfair || std::exchange(trial_has_failed_, false)) Begin(turn);
}

void Yielding::OnRun(Time since, bool is_ours, Time now) {
  if (!is_ours) by_other_.Add(now - since);
  hold_ = std::min(hold_, 2 * by_other_.Usual());
  if (since < settled_) return;
  waited_ += now - since;
  if (++commands_ == kMeanWindow) OnMean(waited_ / kMeanWindow);
}

void Yielding::OnMean(Duration mean) {
  NewWindow();
  if (yields_) {
    mean_alone_ = mean;
    if (mean > mean_before_ * 5 / 4) End();  // the other pilot is late, too
  } else if (std::exchange(is_on_trial_, false)) {
    trial_has_failed_ = mean > mean_alone_ * 3 / 2;
    if (!trial_has_failed_) retry_after_ = kRetryMin;
  }
}

void Yielding::TryAgainIfDue(Time now) {
  if (!yields_ || now < began_ + retry_after_) return;
  retry_after_ = std::min(2 * retry_after_, kRetryMax);
  End();
  is_on_trial_ = true;
}

void Yielding::Begin(const Turn& turn) {
  yields_ = true;
  began_ = turn.now;
  settled_ = turn.now + turn.patience;
  behind_ = turn.latest;
  mean_before_ = by_other_.Mean();
  hold_ = std::min(2 * by_other_.Usual(), kHoldMax);
  NewWindow();
}

void Yielding::End() {
  yields_ = false;
  share_ = kHalf;
  NewWindow();
}

void Yielding::NewWindow() {
  commands_ = first_ = 0;
  waited_ = {};
}

}  // namespace depfast::copilot

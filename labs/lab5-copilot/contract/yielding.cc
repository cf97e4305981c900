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
// with none: a large one must not decide alone. One that is taken over counts twice.
constexpr int kShareWindow = 192;
constexpr int kEntryMax = 12;
// A pilot yields if so many of its entries took a tenth longer to be decided than as many of the
// other's.
constexpr int kDecisionsMin = 128;
// So many times more or less than usual.
constexpr int kOutlier = 4;

// With more waiting commands the cluster is saturated, or a link has stalled. Then entries are
// large, and the shares of healthy pilots are a matter of chance.
constexpr std::size_t kWaitingMax = 48;
// With fewer, the pilot that is nearer to the client is first with all of them, and the other one
// delays nobody.
constexpr std::size_t kWaitingMin = 4;
// A pilot that pauses again and again piles commands up, too. It yields after so many pauses in a
// row, each with an entry of its own that was taken over. Two are kPauseMin apart at least: a link
// that stalls for 200 ms, TCP's shortest retransmission timeout, makes fewer.
constexpr int kPauses = 4;
constexpr Duration kPauseMin = 80ms;
constexpr Duration kPauseMax = 400ms;

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

void Yielding::OnOwnEntry(const Entry& entry, const Turn& turn) {
  // The order may put first what the other pilot has had to wait for.
  const int first = entry.is_taken_over ? 0 : entry.first;
  if (yields_) {
    if (entry.index > behind_) first_ += first;
    if (first_ >= kFirstMax) End(turn.now);
    return;
  }
  if (turn.waiting < kWaitingMin || turn.waiting > kWaitingMax) {
    ours_ = others_ = {};
    if (turn.waiting > kWaitingMax && PausesAgain(entry, turn.now)) Begin(turn);
    return;
  }
  const int counts = std::min((entry.is_taken_over ? 2 : 1) * entry.commands, kEntryMax);
  share_ += (kAll * first / entry.commands - share_) * counts / kShareWindow;
  const bool is_late = share_ < kUnfair || DecidesLater();
  if (std::exchange(trial_has_failed_, false) || is_late) Begin(turn);
}

bool Yielding::PausesAgain(const Entry& entry, Time now) {
  if (!entry.is_taken_over || now < last_pause_ + kPauseMin) return false;
  pauses_in_a_row_ = now < last_pause_ + kPauseMax ? pauses_in_a_row_ + 1 : 1;
  last_pause_ = now;
  return pauses_in_a_row_ >= kPauses;
}

void Yielding::OnDecision(bool is_ours, Duration took) {
  // A link has stalled, or delivers now what it has held back: that tells nothing of a pilot.
  const Duration usual = ours_.entries > 0 ? ours_.took / ours_.entries : took;
  if (took > kOutlier * usual || took < usual / kOutlier) ours_ = others_ = {};
  // Only entries of the same time compare. So each lane has its turn.
  Decisions& decisions = is_ours ? ours_ : others_;
  if (decisions.entries > std::min(ours_.entries, others_.entries)) return;
  ++decisions.entries;
  decisions.took += took;
}

bool Yielding::DecidesLater() {
  if (std::min(ours_.entries, others_.entries) < kDecisionsMin) return false;
  const Duration ours = std::exchange(ours_, {}).took;
  const Duration others = std::exchange(others_, {}).took;
  return ours > others * 11 / 10;
}

void Yielding::OnRun(Time since, bool is_ours, Time now) {
  if (!is_ours) by_other_.Add(now - since);
  // After a pause this pilot hears of a command and of its decision at once: that took no time.
  hold_ = std::min(hold_, std::max(2 * by_other_.Usual(), least_hold_));
  if (since < settled_) return;
  waited_ += now - since;
  if (++commands_ == kMeanWindow) OnMean(waited_ / kMeanWindow, now);
}

void Yielding::OnMean(Duration mean, Time now) {
  NewWindow();
  if (yields_) {
    mean_alone_ = mean;
    // The other pilot is late, too. A pilot that pauses cannot tell: its times have its own pauses.
    if (mean > mean_before_ * 5 / 4 && now > last_pause_ + kPauseMax) End(now);
  } else if (std::exchange(is_on_trial_, false)) {
    trial_has_failed_ = mean > mean_alone_ * 3 / 2;
  }
}

void Yielding::NoticePause(Time since, Time now) {
  if (now <= DueAt(since) + hold_ / 2) return;
  last_pause_ = now;
  if (since > settled_) settled_ = now;
}

void Yielding::TryAgainIfDue(Time now) {
  if (!yields_ || now < began_ + retry_after_) return;
  retry_after_ = std::min(2 * retry_after_, kRetryMax);
  End(now);
  is_on_trial_ = true;
}

void Yielding::Begin(const Turn& turn) {
  yields_ = true;
  if (turn.now > ended_ + kRetryMax) retry_after_ = kRetryMin;
  began_ = turn.now;
  settled_ = turn.now + turn.patience;
  behind_ = turn.latest;
  mean_before_ = by_other_.Mean();
  least_hold_ = turn.patience;
  hold_ = std::min(std::max(2 * by_other_.Usual(), least_hold_), kHoldMax);
  is_on_trial_ = trial_has_failed_ = false;
  NewWindow();
}

void Yielding::End(Time now) {
  yields_ = false;
  ended_ = now;
  share_ = kHalf;
  ours_ = others_ = {};
  NewWindow();
}

void Yielding::NewWindow() {
  commands_ = first_ = 0;
  waited_ = {};
}

}  // namespace depfast::copilot

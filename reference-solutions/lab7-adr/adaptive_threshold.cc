#include "adaptive_threshold.h"

#include <algorithm>
#include <iterator>

namespace depfast::adr {
namespace {

// A rate is in thousandths of a command a second. A higher one counts as this: its square, times
// the number of updates, squared, fits into 128 bits.
constexpr std::int64_t kRateMax = std::int64_t{1} << 40;

}  // namespace

// ---- percentile ----

void Percentile::Insert(Duration value) {
  const bool is_low = low_.empty() || value <= Get();
  (is_low ? low_ : high_).insert(value);
  Balance();
}

void Percentile::Remove(Duration value) {
  const bool is_low = value <= Get();
  auto& values = is_low ? low_ : high_;
  values.erase(values.find(value));
  Balance();
}

void Percentile::Balance() {
  const std::size_t rank = ((low_.size() + high_.size()) * kPercentile + 99) / 100;
  while (low_.size() > rank) high_.insert(low_.extract(std::prev(low_.end())));
  while (low_.size() < rank) low_.insert(high_.extract(high_.begin()));
}

// ---- history ----

void History::Add(Duration value, std::int64_t rate) {
  updates_.push_back({value, rate});
  values_.Insert(value);
  rates_ += rate;
  squares_ += static_cast<Wide>(rate) * rate;
}

void History::ShrinkTo(std::size_t size) {
  for (; updates_.size() > size; updates_.pop_front()) {
    const auto& [value, rate] = updates_.front();
    values_.Remove(value);
    rates_ -= rate;
    squares_ -= static_cast<Wide>(rate) * rate;
  }
}

// All is multiplied by the number of rates, or by its square: nothing is rounded.
Rate History::Compare(std::int64_t rate) const {
  const auto n = static_cast<Wide>(updates_.size());
  const Wide above = n * rate - rates_;
  const Wide distance = above < 0 ? -above : above;
  const Wide variance = n * squares_ - rates_ * rates_;
  const bool is_normal = distance * distance <= variance || kLeastChange * distance <= rates_;
  if (is_normal) return Rate::kNormal;
  return above > 0 ? Rate::kHigher : Rate::kLower;
}

// ---- detector ----

bool AdaptiveThreshold::IsWarn(Time now, Duration value, Duration static_warn, int work) {
  static_warn_ = static_warn;
  return Take(now, value, work);
}

bool AdaptiveThreshold::IsFatal(Duration value, Duration static_fatal) const {
  return window_.is_fatal || value > static_fatal;
}

void AdaptiveThreshold::OnTick(Time now, std::optional<Time> oldest_under_way) {
  if (oldest_under_way) Take(now, now - *oldest_under_way, 0);
}

Duration AdaptiveThreshold::threshold() const {
  return window_.is_learned ? window_.history.threshold() : static_warn_;
}

bool AdaptiveThreshold::Take(Time now, Duration value, int work) {
  if (window_.recent.empty()) window_.began = now;
  window_.recent.push_back({now, value, 0, work, Rate::kNormal, false});
  window_.work += work;
  MoveOn(now);
  Recent& update = window_.recent.back();
  update.rate = RateNow(now);
  update.state = Compare(update.rate);
  update.is_slow = IsSlow(update);
  ++window_.states[static_cast<std::size_t>(update.state)];
  window_.slow += update.is_slow ? 1 : 0;
  const bool is_warn = window_.is_learned ? update.is_slow : value > static_warn_;
  Check(now);
  return is_warn;
}

void AdaptiveThreshold::MoveOn(Time now) {
  auto& recent = window_.recent;
  const auto is_over = [&] {
    const bool is_old = recent.front().at <= now - kSecond && recent.size() > options_.recent_min;
    return is_old || recent.size() > options_.window_max;
  };
  for (; is_over(); recent.pop_front()) {
    const Recent& update = recent.front();
    if (IsUsual(update)) window_.history.Add(update.value, update.rate);
    window_.work -= update.work;
    window_.slow -= update.is_slow ? 1 : 0;
    --window_.states[static_cast<std::size_t>(update.state)];
    window_.history.ShrinkTo(options_.window_max);
  }
  const std::size_t full =
      std::min(options_.history_per_recent * recent.size(), options_.window_max);
  window_.is_learned = window_.is_learned || window_.history.size() >= full;
  window_.history.ShrinkTo(full);
}

bool AdaptiveThreshold::IsUsual(const Recent& update) const {
  const bool has_whole_second = update.at >= window_.began + kSecond;
  const bool is_of_fault = window_.fatal_at >= update.at;
  return update.state == Rate::kNormal && has_whole_second && !is_of_fault;
}

std::int64_t AdaptiveThreshold::RateNow(Time now) const {
  const auto& recent = window_.recent;
  const bool is_cut = recent.size() == options_.window_max;
  const Duration reach = std::max(now - recent.front().at, Duration(1));
  const Duration span = is_cut ? reach : std::max(reach, kSecond);
  const Wide thousandths = static_cast<Wide>(window_.work) * 1000;
  return static_cast<std::int64_t>(
      std::min<Wide>(thousandths * kSecond.count() / span.count(), kRateMax));
}

Rate AdaptiveThreshold::Compare(std::int64_t rate) const {
  const bool is_known = window_.is_learned ||
                        window_.history.size() >= options_.rates_per_recent * window_.recent.size();
  return is_known ? window_.history.Compare(rate) : Rate::kNormal;
}

bool AdaptiveThreshold::IsSlow(const Recent& update) const {
  if (!window_.is_learned || update.value <= threshold()) return false;
  return update.state == Rate::kLower || (update.state == Rate::kNormal && !is_saturated_);
}

void AdaptiveThreshold::Check(Time now) {
  const std::size_t half = window_.recent.size() / 2;
  const auto continuously = [&](Rate rate) {
    return window_.states[static_cast<std::size_t>(rate)] > half;
  };
  const bool is_slow = window_.slow > half;
  if (continuously(Rate::kHigher) || (continuously(Rate::kLower) && !is_slow)) {
    window_ = {};
    ++resets_;
    return;
  }
  window_.is_fatal = is_slow;
  if (is_slow) window_.fatal_at = now;
}

}  // namespace depfast::adr

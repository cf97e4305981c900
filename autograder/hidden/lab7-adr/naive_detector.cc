#include "naive_detector.h"

#include <algorithm>

namespace depfast::adr {
namespace {

__extension__ using Wide = __int128;

}  // namespace

char NaiveDetector::Show(const PlantedRun& run) {
  using Kind = PlantedRun::Kind;
  const int resets = resets_;
  const Time begin = now_;
  bool is_over_the_limit = false;
  for (std::int64_t i = 0; i < run.times; ++i) {
    now_ += Duration(run.gap_ns);
    const Duration value(run.value_ns);
    is_warn_ = false;
    is_over_the_limit = run.kind == Kind::kUpdates && value > fatal_;
    if (run.kind == Kind::kSaturated) is_saturated_ = true;
    if (run.kind == Kind::kNotSaturated) is_saturated_ = false;
    if (run.kind == Kind::kStaticWarn) next_warn_ = value;
    if (run.kind == Kind::kTicks) Take(value, 0);
    if (run.kind == Kind::kStall) Take(now_ - begin, 0);
    if (run.kind == Kind::kUpdates) {
      warn_ = next_warn_;
      Take(value, run.work);
    } else {
      is_warn_ = false;
    }
  }
  const Rate rate = recent_.empty() ? Rate::kNormal : recent_.back().state;
  return StateAfter(is_warn_, is_fatal_ || is_over_the_limit, static_cast<int>(rate),
                    resets_ != resets, Reaches(run, Threshold()));
}

void NaiveDetector::Take(Duration value, std::int64_t work) {
  if (recent_.empty()) began_ = now_;
  recent_.push_back({now_, value, work});
  MoveOn();
  Update& update = recent_.back();
  update.rate = RateNow();
  update.state = Compare(update.rate);
  const bool is_above = value > Threshold();
  const bool is_excused = update.state == Rate::kNormal && is_saturated_;
  update.is_slow = is_learned_ && is_above && update.state != Rate::kHigher && !is_excused;
  is_warn_ = is_learned_ ? update.is_slow : is_above;
  const bool is_slow = MostRecentAre([](const Update& each) { return each.is_slow; });
  const auto is = [this](Rate rate) {
    return MostRecentAre([rate](const Update& each) { return each.state == rate; });
  };
  if (is(Rate::kHigher) || (is(Rate::kLower) && !is_slow)) {
    recent_.clear();
    history_.clear();
    fatal_at_.clear();
    is_learned_ = is_fatal_ = false;
    ++resets_;
    return;
  }
  is_fatal_ = is_slow;
  if (is_fatal_) fatal_at_.push_back(now_);
}

bool NaiveDetector::IsRecent(std::size_t update) const {
  const std::size_t number = recent_.size() - update;  // it, and those after it
  if (number > options_.window_max) return false;
  return number <= options_.recent_min || recent_[update].at > now_ - kSecond;
}

void NaiveDetector::MoveOn() {
  std::size_t over = 0;
  while (!IsRecent(over)) {
    const Update& update = recent_[over++];
    const bool was_fatal =
        std::ranges::any_of(fatal_at_, [&](Time fatal) { return fatal >= update.at; });
    const bool is_early = update.at - began_ < kSecond;
    if (update.state == Rate::kNormal && !was_fatal && !is_early) history_.push_back(update);
  }
  recent_.erase(recent_.begin(), recent_.begin() + static_cast<std::ptrdiff_t>(over));
  const std::size_t full =
      std::min(options_.history_per_recent * recent_.size(), options_.window_max);
  if (history_.size() >= full) {
    is_learned_ = true;
    history_.erase(history_.begin(), history_.end() - static_cast<std::ptrdiff_t>(full));
  }
}

std::int64_t NaiveDetector::RateNow() const {
  Wide work = 0;
  for (const Update& each : recent_) work += each.work;
  const Duration reach = now_ - recent_.front().at;
  Duration span = std::max(reach, kSecond);
  if (recent_.size() == options_.window_max) span = std::max(reach, Duration(1));
  return static_cast<std::int64_t>(
      std::min<Wide>(work * 1000 * kSecond.count() / span.count(), Wide{1} << 40));
}

NaiveDetector::Rate NaiveDetector::Compare(std::int64_t rate) const {
  if (!is_learned_ && history_.size() < options_.rates_per_recent * recent_.size()) {
    return Rate::kNormal;
  }
  const auto n = static_cast<Wide>(history_.size());
  Wide sum = 0;
  for (const Update& each : history_) sum += each.rate;
  Wide squares = 0;  // of n times the distances from the mean
  for (const Update& each : history_) {
    const Wide distance = n * each.rate - sum;
    squares += distance * distance;
  }
  const Wide distance = n * rate - sum;
  if (n * distance * distance <= squares) return Rate::kNormal;
  if (4 * distance > sum) return Rate::kHigher;
  return 4 * distance < -sum ? Rate::kLower : Rate::kNormal;
}

Duration NaiveDetector::Threshold() const {
  if (!is_learned_) return warn_;
  std::vector<Duration> values;
  for (const Update& each : history_) values.push_back(each.value);
  std::ranges::sort(values);
  std::size_t rank = 1;
  while (100 * rank < 99 * values.size()) ++rank;
  return values[rank - 1];
}

template <typename Property>
bool NaiveDetector::MostRecentAre(Property property) const {
  const auto count = std::ranges::count_if(recent_, property);
  return 2 * static_cast<std::size_t>(count) > recent_.size();
}

std::vector<std::string> NaiveStates(const WatchStreams& request) {
  const AdrOptions options{request.recent_min, request.history_per_recent, request.rates_per_recent,
                           request.window_max};
  std::vector<std::string> states;
  for (const PlantedStream& stream : request.streams) {
    NaiveDetector detector(options, Duration(request.warn_ns), Duration(request.fatal_ns));
    auto& text = states.emplace_back();
    for (const std::uint32_t run : stream.order) text += detector.Show(request.runs[run]);
  }
  return states;
}

}  // namespace depfast::adr

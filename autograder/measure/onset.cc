#include "onset.h"

#include <algorithm>
#include <array>
#include <utility>

namespace depfast::measure {
namespace {

// Of the rate, in per cent, one after another. Each lasts longer than a detector learns.
constexpr std::array kPercent = {20, 95, 120, 20};

}  // namespace

testkit::Operation Onset::Watch(testkit::Operation operation) {
  return [this, operation = std::move(operation)](std::function<void(bool)> done) {
    const std::size_t number = operations_.size();
    operations_.push_back({simulator_.now()});
    operation([this, number, done = std::move(done)](bool ok) {
      if (ok) operations_[number].effective = simulator_.now();
      done(ok);
    });
  };
}

void Onset::See(const std::vector<PeerId>& proposers, Time from) {
  if (proposers.empty() || proposers.front() == proposer_) return;
  if (proposer_ != kNobody) {
    new_proposers_.push_back((simulator_.now() - from) / testkit::kCompletionsSlot);
  }
  proposer_ = proposers.front();
}

std::vector<Duration> Onset::MeansAt(const testkit::LoadWindow& window, Time end) const {
  const auto slots =
      static_cast<std::size_t>((window.to - window.from) / testkit::kCompletionsSlot);
  std::vector<Duration> sums(slots);
  std::vector<std::int64_t> counts(slots);
  for (const Seen& one : operations_) {
    if (one.begun < window.from || one.begun >= window.to) continue;
    const auto slot =
        static_cast<std::size_t>((one.begun - window.from) / testkit::kCompletionsSlot);
    if (slot >= slots) continue;
    sums[slot] += std::min(one.effective, end) - one.begun;
    ++counts[slot];
  }
  for (std::size_t slot = 0; slot < slots; ++slot) {
    if (counts[slot] > 0) sums[slot] /= counts[slot];
  }
  return sums;
}

// ---- changing load ----

ChangingLoad::ChangingLoad(sim::Simulator& simulator, testkit::Operation operation, double rate,
                           const testkit::LoadWindow& window, RandomStream stream)
    : simulator_(simulator),
      rate_(rate),
      window_(window),
      stream_(stream),
      next_(window.start),
      recorder_(simulator, std::move(operation), window) {
  ScheduleNext();
}

void ChangingLoad::ScheduleNext() {
  const Duration interval = IntervalAt(next_);
  const auto below = static_cast<std::uint64_t>(interval.count()) + 1;
  const Time when = next_ + Duration(static_cast<std::int64_t>(stream_.Below(below)));
  next_ += interval;
  if (when >= window_.to) return;
  simulator_.At(std::max(when, simulator_.now()), [this] {
    recorder_.Begin(nullptr);
    ScheduleNext();
  });
}

Duration ChangingLoad::IntervalAt(Time when) const {
  const Duration length = (window_.to - window_.start) / static_cast<int>(kPercent.size());
  const auto step = static_cast<std::size_t>((when - window_.start) / length);
  const int percent = kPercent.at(std::min(step, kPercent.size() - 1));
  return Duration(static_cast<std::int64_t>(1e9 / rate_ * 100 / percent));
}

}  // namespace depfast::measure

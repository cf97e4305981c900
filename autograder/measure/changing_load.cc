#include "changing_load.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace depfast::measure {
namespace {

// Shares of the rate, in per cent, in order. Each lasts longer than a detector learns.
constexpr std::array kPercent = {20, 95, 120, 20};

}  // namespace

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

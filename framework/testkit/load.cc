#include "testkit/load.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace depfast::testkit {
namespace {

// Runs one operation and files its outcome.
void Measure(sim::Simulator& simulator, const Operation& operation, const LoadWindow& window,
             LoadResult& result, std::function<void()> then) {
  const Time begun = simulator.now();
  operation([&simulator, &window, &result, begun, then = std::move(then)](bool ok) {
    const Time ended = simulator.now();
    const bool inside = ended >= window.from && ended < window.to;
    if (!ok) {
      ++result.failed;
    } else if (inside) {
      ++result.completed;
      if (begun >= window.from) result.latencies.Add(ended - begun);
    }
    if (then) then();
  });
}

}  // namespace

Duration LatencyRecorder::Mean() const {
  if (samples_.empty()) return Duration::zero();
  Duration sum{0};
  for (const Duration sample : samples_) sum += sample;
  return sum / static_cast<std::int64_t>(samples_.size());
}

Duration LatencyRecorder::Percentile(int permille) const {
  if (samples_.empty()) return Duration::zero();
  std::vector<Duration> sorted = samples_;
  const std::size_t rank = (sorted.size() * static_cast<std::size_t>(permille) + 999) / 1000;
  const auto nth = sorted.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(sorted.begin(), nth, sorted.end());
  return *nth;
}

double LatencyRecorder::Variation() const {
  if (samples_.empty()) return 0;
  const auto mean = static_cast<double>(Mean().count());
  double squares = 0;
  for (const Duration sample : samples_) {
    const double off = static_cast<double>(sample.count()) - mean;
    squares += off * off;
  }
  return std::sqrt(squares / static_cast<double>(samples_.size())) / mean;
}

ClosedLoop::ClosedLoop(sim::Simulator& simulator, Operation operation, int clients,
                       LoadWindow window)
    : simulator_(simulator), operation_(std::move(operation)), window_(window) {
  for (int i = 0; i < clients; ++i) simulator_.At(window_.start, [this] { Next(); });
}

void ClosedLoop::Next() {
  if (simulator_.now() >= window_.to) return;
  Measure(simulator_, operation_, window_, result_, [this] { Next(); });
}

OpenLoop::OpenLoop(sim::Simulator& simulator, Operation operation,
                   std::int64_t operations_per_second, LoadWindow window, RandomStream stream)
    : simulator_(simulator),
      operation_(std::move(operation)),
      interval_(1'000'000'000 / operations_per_second),
      window_(window),
      stream_(stream) {
  assert(operations_per_second > 0);
  ScheduleNext();
}

void OpenLoop::ScheduleNext() {
  const Duration jitter(
      static_cast<std::int64_t>(stream_.Below(static_cast<std::uint64_t>(interval_.count()) + 1)));
  const Time when = window_.start + interval_ * issued_ + jitter;
  if (when >= window_.to) return;
  ++issued_;
  simulator_.At(std::max(when, simulator_.now()), [this] {
    Measure(simulator_, operation_, window_, result_, nullptr);
    ScheduleNext();
  });
}

}  // namespace depfast::testkit

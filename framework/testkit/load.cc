#include "testkit/load.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace depfast::testkit {
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

void LoadRecorder::Begin(std::function<void()> then) {
  std::optional<std::size_t> offered;
  if (IsMeasured(simulator_.now())) {
    offered = offered_.size();
    offered_.push_back({simulator_.now()});
  }
  operation_([this, offered, then = std::move(then)](bool ok) {
    if (ok) OnEffect(offered);
    if (then) then();
  });
}

void LoadRecorder::OnEffect(std::optional<std::size_t> offered) {
  const Time now = simulator_.now();
  if (offered) offered_[*offered].effective = now;
  if (!IsMeasured(now)) return;
  ++completed_;
  const auto slot = static_cast<std::size_t>((now - window_.from) / kCompletionsSlot);
  if (slot >= completions_.size()) completions_.resize(slot + 1);
  ++completions_[slot];
}

LoadResult LoadRecorder::ResultAt(Time end) const {
  assert(window_.to <= end && end <= simulator_.now());
  LoadResult result;
  const Duration length = window_.to - window_.from;
  result.slots.resize(
      static_cast<std::size_t>((length + kCompletionsSlot - 1ns) / kCompletionsSlot));
  result.means.resize(result.slots.size());
  std::vector<std::int64_t> begun(result.slots.size());
  const auto slot_of = [this](Time when) {
    return static_cast<std::size_t>((when - window_.from) / kCompletionsSlot);
  };
  result.offered = offered_.size();
  for (const Offered& one : offered_) {
    if (one.effective > end) {
      ++result.unanswered;
    } else {
      result.passed_over = result.unanswered;
    }
    const Duration latency = std::min(one.effective, end) - one.begun;
    result.latencies.Add(latency);
    result.means[slot_of(one.begun)] += latency;
    ++begun[slot_of(one.begun)];
    if (IsMeasured(one.effective)) result.slots[slot_of(one.effective)].push_back(latency);
  }
  for (std::size_t slot = 0; slot < begun.size(); ++slot) {
    if (begun[slot] > 0) result.means[slot] /= begun[slot];
  }
  result.completed = completed_;
  result.completions = completions_;
  result.completions.resize(result.slots.size());
  return result;
}

ClosedLoop::ClosedLoop(sim::Simulator& simulator, Operation operation, int clients,
                       LoadWindow window)
    : simulator_(simulator), window_(window), recorder_(simulator, std::move(operation), window) {
  for (int i = 0; i < clients; ++i) simulator_.At(window_.start, [this] { Next(); });
}

void ClosedLoop::Next() {
  if (simulator_.now() < window_.to) recorder_.Begin([this] { Next(); });
}

OpenLoop::OpenLoop(sim::Simulator& simulator, Operation operation, Duration interval,
                   LoadWindow window, RandomStream stream)
    : simulator_(simulator),
      interval_(interval),
      window_(window),
      stream_(stream),
      recorder_(simulator, std::move(operation), window) {
  assert(interval > Duration::zero());
  ScheduleNext();
}

void OpenLoop::ScheduleNext() {
  const Duration jitter(
      static_cast<std::int64_t>(stream_.Below(static_cast<std::uint64_t>(interval_.count()) + 1)));
  const Time when = window_.start + interval_ * issued_ + jitter;
  if (when >= window_.to) return;
  ++issued_;
  simulator_.At(std::max(when, simulator_.now()), [this] {
    recorder_.Begin(nullptr);
    ScheduleNext();
  });
}

}  // namespace depfast::testkit

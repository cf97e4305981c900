#include "vitals.h"

#include <algorithm>
#include <utility>

namespace depfast::adr {
namespace {

Duration OfAMillisecond(Duration took, Duration cost) { return took * (1ms / 1ns) / (cost / 1ns); }

}  // namespace

// ---- one variable ----

Vital::~Vital() = default;

void Vital::Update(Time now, Duration value, int work) {
  const bool is_slow = detector_.IsWarn(now, value, static_.warn, work);
  SetLevel(is_slow, value);
}

void Vital::Tick(Time now, std::optional<Time> oldest_under_way) {
  detector_.OnTick(now, oldest_under_way);
  if (!oldest_under_way) return;
  const Duration age = now - *oldest_under_way;
  SetLevel(age > detector_.threshold(), age);
}

void Vital::SetLevel(bool is_slow, Duration value) {
  value_ = value;
  if (detector_.IsFatal(value, static_.fatal)) {
    level_ = Level::kFatal;
  } else {
    level_ = is_slow ? Level::kSlow : Level::kWell;
  }
}

// ---- processor ----

Duration ProcessorVital::Value(Duration took, Duration cost, Duration first) {
  const Duration of_a_millisecond = OfAMillisecond(took, cost);
  Duration step = first;
  while (step + step / 4 < of_a_millisecond) step *= 2;
  while (step > 1ns && step / 2 + step / 8 >= of_a_millisecond) step /= 2;
  return step;
}

Duration ProcessorVital::FirstOf(Duration took, Duration cost) {
  const Duration of_a_millisecond = std::max(OfAMillisecond(took, cost), Duration(1));
  return of_a_millisecond >= 1ms && of_a_millisecond < 4ms ? 1ms : of_a_millisecond;
}

void ProcessorVital::Tick(Time now) {
  if (!marks_.empty()) {
    const Duration cost = meter_.cost() - marks_.back().cost;
    const Duration took = meter_.took() - marks_.back().took;
    if (cost > 0ns) OnSlice(now, took, cost);
  }
  marks_.push_back({now, meter_.cost(), meter_.took()});
  if (marks_.size() > kSlices + 1) marks_.pop_front();
}

void ProcessorVital::OnSlice(Time now, Duration took, Duration cost) {
  if (first_ == 0ns) {
    first_ = FirstOf(took, cost);
    began_ = meter_.cost();
  }
  vital_.Update(now, Value(took, cost, first_), /*work=*/1);
}

bool ProcessorVital::is_saturated() const {
  if (marks_.size() <= kSlices) return false;
  const Mark &first = marks_.front(), &last = marks_.back();
  const Duration took = last.took - first.took;
  return took * 10 >= (last.at - first.at) * 9 && UsualTime(last.cost - first.cost) * 2 >= took;
}

// ---- work ----

int WorkMeter::Take() {
  const std::int64_t total = work_.total();
  return static_cast<int>(total - std::exchange(seen_, total));
}

// ---- disk ----

void DiskVital::Tick(Time now) {
  EndBatch();
  if (under_way_.empty()) return vital_.Tick(now, std::nullopt);
  vital_.Tick(now, std::max(under_way_.front().began, last_end_));
}

void DiskVital::OnStepEnd(const StepUsage& usage) {
  for (Sync& sync : under_way_) {
    if (sync.asked == usage.began) sync.began = usage.began + usage.took;
  }
}

void DiskVital::OnEnd(Time now, Time asked, std::size_t bytes) {
  const auto sync = std::ranges::find(under_way_, asked, &Sync::asked);
  const Time began = sync->began;
  under_way_.erase(sync);
  if (now != last_end_) EndBatch();
  if (!batch_) batch_ = {std::max(began, last_end_), now, 0};
  batch_->bytes += static_cast<std::int64_t>(bytes);
  last_end_ = now;
}

void DiskVital::EndBatch() {
  if (!batch_) return;
  const auto [began, end, bytes] = *std::exchange(batch_, std::nullopt);
  vital_.Update(end, (end - began) * kPlainBytes / (kPlainBytes + bytes), work_.Take());
}

// ---- link ----

void LinkVital::Tick(Time now) {
  vital_.Tick(now, under_way_.empty() ? std::nullopt : std::optional(under_way_.front()));
}

void LinkVital::OnAnswer(Time now, Time asked) {
  OnNoAnswer(asked);
  round_trip_ = now - asked;
  vital_.Update(now, *round_trip_, work_.Take());
}

void LinkVital::OnNoAnswer(Time asked) { under_way_.erase(std::ranges::find(under_way_, asked)); }

}  // namespace depfast::adr

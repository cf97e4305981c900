#include "adaptive_threshold.h"

namespace depfast::adr {

// Every function below is a stub. It compiles, and finds nothing. Our lines: 215.

AdaptiveThreshold::AdaptiveThreshold(const AdrOptions& options) { (void)options; }

// TODO 7A. `work` is for 7B.
bool AdaptiveThreshold::IsWarn(Time now, Duration value, Duration static_warn, int work) {
  (void)now, (void)value, (void)static_warn, (void)work;
  return false;
}

// TODO 7A
bool AdaptiveThreshold::IsFatal(Duration value, Duration static_fatal) const {
  (void)value, (void)static_fatal;
  return false;
}

// TODO 7B
void AdaptiveThreshold::OnTick(Time now, std::optional<Time> oldest_under_way) {
  (void)now, (void)oldest_under_way;
}

// TODO 7B
void AdaptiveThreshold::SetSaturated(bool saturated) { (void)saturated; }

// TODO 7A
Duration AdaptiveThreshold::threshold() const { return kForever; }

// TODO 7A
Rate AdaptiveThreshold::rate() const { return Rate::kNormal; }

// TODO 7A
std::uint64_t AdaptiveThreshold::resets() const { return 0; }

}  // namespace depfast::adr

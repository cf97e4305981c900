// AdaptiveThreshold by the rules of another system (detectors.h), for `kit bench adr`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "adr_options.h"
#include "depfast/time.h"
#include "detectors.h"
#include "levels.h"

namespace depfast::adr {

enum class Rate : std::uint8_t { kLower, kNormal, kHigher };

// The rules have thresholds of their own, and none but ADR looks at the work of an operation.
class AdaptiveThreshold {
 public:
  explicit AdaptiveThreshold(const AdrOptions&) : detector_(MakeDetector()) {}

  bool IsWarn(Time now, Duration value, Duration, int = 1) {
    level_ = detector_->Update(now, value);
    return level_ != Level::kWell;
  }
  bool IsFatal(Duration value, Duration) const {
    return level_ == Level::kFatal || value > detector_->limits().fatal;
  }
  void OnTick(Time, std::optional<Time>) {}
  void SetSaturated(bool) {}
  Duration threshold() const { return detector_->limits().warn; }
  Rate rate() const { return Rate::kNormal; }
  std::uint64_t resets() const { return 0; }

 private:
  const std::unique_ptr<Detector> detector_;
  Level level_ = Level::kWell;
};

}  // namespace depfast::adr

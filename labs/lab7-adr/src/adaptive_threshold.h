// AdaptiveThreshold (lab 7): is this value slow, and is there a slow fault? It learns from one
// variable, such as the time of a disk's sync (document 004, section 6.2). The rules R1 to R12 are
// those of the handout.
//
// The class's name and its public functions are the contract: the driver and the tests use them.
// The private part is yours. It needs nothing of a replica: only times, options and the standard
// library.
#pragma once

#include <cstdint>
#include <optional>

#include "adr_options.h"
#include "depfast/time.h"

namespace depfast::adr {

// The rate of updates against the rates of the past.
enum class Rate : std::uint8_t { kLower, kNormal, kHigher };

// Knows nothing of other variables: two of them share no data. An update takes O(log n), and all
// memory is less than 1 MiB with the usual options.
class AdaptiveThreshold {
 public:
  explicit AdaptiveThreshold(const AdrOptions& options);

  // An operation ended at `now`, and took `value`: one update. Returns whether that is slow (R5).
  // `static_warn` is the threshold until there is a learned one. `work`: the client commands of the
  // operation (R10). Requires: `now` never goes back; `value` and `work` are not negative.
  bool IsWarn(Time now, Duration value, Duration static_warn, int work = 1);

  // Whether there is a slow fault, or `value` is above the other static threshold (R8). It is about
  // the latest update, and changes nothing.
  bool IsFatal(Duration value, Duration static_fatal) const;

  // Comes every 100 ms. `oldest_under_way`: the begin of the oldest operation that has not ended,
  // if there is one (R12).
  void OnTick(Time now, std::optional<Time> oldest_under_way);

  // Whether the replica is saturated from now on (R11). At first it is not.
  void SetSaturated(bool saturated);

  // The threshold for the next update: the learned one, or the `static_warn` of the latest update.
  // kForever before the first one.
  Duration threshold() const;

  // The rate at the latest update (R4); kNormal after a reset.
  Rate rate() const;

  // The number of resets so far (R6).
  std::uint64_t resets() const;

 private:
  // TODO 7A: what must be remembered?
};

}  // namespace depfast::adr

// The figures of the adaptive detector. Given, not submitted: tests rely on them.
//
// They are a struct, so that a test can ask for windows that are small enough to try everything.
#pragma once

#include <cstddef>

#include "depfast/time.h"

namespace depfast::adr {

// The recent updates are those of the last second (document 004, section 6.2, "State checkers").
inline constexpr Duration kSecond = 1s;
// The threshold is this percentile of the history, by nearest rank (document 004, step 1).
inline constexpr std::size_t kPercentile = 99;
// A rate that differs from the mean by a kLeastChange-th of it, or by less, is normal (R4). The
// bound of one deviation alone is passed by chance.
inline constexpr int kLeastChange = 4;

// Numbers of updates; all are at least 1.
struct AdrOptions {
  // "Recent" reaches back beyond the last second until it has this number.
  std::size_t recent_min = 10;
  // The history holds this number for each recent update (document 004, "Dynamic window length").
  std::size_t history_per_recent = 10;
  // While the history fills, its rates count from this number for each recent update on.
  std::size_t rates_per_recent = 2;
  // Neither window holds more: so a detector needs less than 1 MiB at any rate.
  std::size_t window_max = 8192;
};

}  // namespace depfast::adr

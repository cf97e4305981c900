// Time as every replica sees it: whole nanoseconds, handed in by the Host.
//
// Integers only. A floating-point second would round differently under another compiler, and with
// it the order of events, the trace and the grade.
#pragma once

#include <chrono>

namespace depfast {

using namespace std::chrono_literals;

// A span of time. Write it with its unit: `150ms`, `2s`.
using Duration = std::chrono::nanoseconds;

// A moment: the time since the host's epoch (the start of the simulation, or the machine's boot).
using Time = std::chrono::nanoseconds;

// A timeout that waits for ever, and a moment that never comes.
inline constexpr Duration kForever = Duration::max();
inline constexpr Time kNever = Time::max();

// `delay` after `now`; never, if that is further than time can tell. Requires: neither is negative.
constexpr Time After(Time now, Duration delay) {
  return delay < kNever - now ? now + delay : kNever;
}

}  // namespace depfast

// A small deterministic random stream.
//
// <random>'s engines are portable but its distributions are not: two standard libraries draw
// different numbers from one seed. This stream gives the same draws everywhere.
#pragma once

#include <cstdint>

#include "depfast/time.h"

namespace depfast {

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): one 64-bit state, full period, no weak seeds.
class RandomStream {
 public:
  // Streams that differ in any of the arguments are independent for our purposes: one stream per
  // (seed, replica, component) means that a draw more in one place changes nothing in another.
  explicit constexpr RandomStream(std::uint64_t seed, std::uint64_t owner = 0,
                                  std::uint64_t component = 0)
      : state_(Mix(Mix(Mix(seed) + owner) + component)) {}

  constexpr std::uint64_t Next() {
    state_ += kGamma;
    return Mix(state_);
  }

  // Uniform in [0, bound). Requires: bound > 0. The bias is below bound / 2^64, which no simulation
  // can detect. A call always costs one draw, so the stream never depends on the values.
  constexpr std::uint64_t Below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;  // not ISO C++, but gcc and clang both have it
    return static_cast<std::uint64_t>((static_cast<Wide>(Next()) * bound) >> 64);
  }

  // Uniform in [0, bound), in nanoseconds. Requires: bound > 0.
  constexpr Duration Below(Duration bound) {
    return Duration(static_cast<std::int64_t>(Below(static_cast<std::uint64_t>(bound.count()))));
  }

  // The finaliser on its own: a good 64-bit hash of a number.
  static constexpr std::uint64_t Mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

 private:
  static constexpr std::uint64_t kGamma = 0x9e3779b97f4a7c15ULL;
  std::uint64_t state_;
};

}  // namespace depfast

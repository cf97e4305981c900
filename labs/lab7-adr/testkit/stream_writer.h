// StreamWriter: writes the streams that a test shows to a detector.
//
//   StreamWriter writer(seed);
//   writer.Add({.lasting = 15s, .per_second = 1000, .value = 2ms});
//   writer.Add({.lasting = 3s, .per_second = 100, .value = 20ms});
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "depfast/host/random.h"
#include "depfast/time.h"
#include "planted_streams.h"

namespace depfast::adr {

constexpr std::int64_t Ns(Duration time) { return time.count(); }

enum class Arrivals : std::uint8_t {
  kRegular,
  kJittered,  // gaps of half to one and a half of the mean
  kPoisson,
  kBursts,  // 20 at an instant
};

// Some seconds alike.
struct Stretch {
  PlantedRun::Kind kind = PlantedRun::Kind::kUpdates;
  Duration lasting = 1s;
  int per_second = 1000;
  Duration value = 2ms;
  int noise = 20;  // values differ from `value` by up to this, in percent
  Arrivals arrivals = Arrivals::kRegular;
  int work = 1;
};

// A load that most tests begin with, and a slow fault in a closed loop.
inline constexpr Stretch kUsual = {.lasting = 15s, .per_second = 1000, .value = 2ms};
inline constexpr Stretch kFault = {.lasting = 4s, .per_second = 200, .value = 10ms};

// The stretch, for another time.
constexpr Stretch Lasting(Stretch stretch, Duration lasting) {
  stretch.lasting = lasting;
  return stretch;
}

class StreamWriter {
 public:
  explicit StreamWriter(std::uint64_t seed) : random_(seed) {}

  // Rules R11 and R12 play no part in what follows: the replica is saturated.
  void Saturate() { AddRun({.kind = PlantedRun::Kind::kSaturated}); }
  void Relax() { AddRun({.kind = PlantedRun::Kind::kNotSaturated}); }
  // Return the number of the stretch, from 0.
  std::size_t Add(const Stretch& stretch);
  // Adds these runs, one after the other, `times` times.
  std::size_t Add(const std::vector<PlantedRun>& cycle, int times = 1);

  // All values so far, times `thousandths` / 1000. Requires: they can be divided.
  void Scale(std::int64_t thousandths);

  // The stream so far, and its runs.
  const PlantedStream& stream() const { return stream_; }
  const std::vector<PlantedRun>& runs() const { return runs_; }

 private:
  void AddRun(const PlantedRun& run);
  std::size_t EndStretch();

  RandomStream random_;
  std::vector<PlantedRun> runs_;
  PlantedStream stream_;
};

// The stream of a saturated replica: the rules of 7B then change no answer of 7A. `world`: the
// number of the stream among the test's.
StreamWriter SaturatedWriter(std::uint64_t world);

}  // namespace depfast::adr

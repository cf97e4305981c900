// Chaos: random plans of faults that overlap, for tests of correctness under anything.
#pragma once

#include <cstdint>
#include <vector>

#include "depfast/host/random.h"
#include "depfast/time.h"
#include "faults/fault.h"

namespace depfast::faults {

// The usual kinds, equally likely: cpu-slow, disk-slow, net-slow (40 ms), partition, drop,
// duplicate, reorder and crash.
std::vector<Strength> UsualMix();

// UsualMix, and again a partition and a crash, and a cut in one direction: a leadership meets those
// more than slowness.
std::vector<Strength> HarshMix();

struct ChaosOptions {
  int replicas = 3;
  int faults = 14;
  Time begin = 700ms;    // no fault starts earlier: there is time for a first election
  Duration length = 4s;  // every fault starts at least 1 s before begin + length
  // The rate of a slow disk. A write that began on a slow disk ends on it, healed or not. So a test
  // with large writes and a bound on progress needs a faster one.
  std::int64_t disk_bytes_per_second = PresetStrength("disk-slow").amount;
  // The kinds to draw from, equally likely. One that is named twice is twice as likely.
  std::vector<Strength> mix = UsualMix();
};

// Draws each fault's victim, kind, start and duration (100 ms to 1.1 s). A partition sets the
// victim and its successor apart. The receiver of a cut or of a slow link is the victim's
// successor. Requires: replicas >= 1, length > 1 s, mix is not empty.
FaultPlan RandomPlan(RandomStream& random, const ChaosOptions& options);

}  // namespace depfast::faults

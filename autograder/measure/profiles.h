// The profiles of the measurement, by name.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "depfast/host/random.h"
#include "sim/profile.h"

namespace depfast::measure {

// A world: other delays and costs than those of TeachingRealistic. Delays vary: without that, a
// detector learns a threshold that is 2 % from usual. Worlds whose links or disks are quick have
// others as counterparts, in which the slow values of these are usual. So no thresholds fit both.
struct World {
  const char* name;
  Duration link;  // one way
  Duration sync;
  int cost_percent;       // of the processor's
  std::int64_t told_ppm;  // see CpuModel: drawn from this to eight times as much
};

// A processor with 5 % of its time takes 20 times as long: less than the usual time of others.
inline constexpr std::int64_t kQuickPpm = 15'625;
inline constexpr std::int64_t kSlowPpm = 4'000'000;
inline constexpr std::uint64_t kProcessors = 903;  // the stream's number

inline constexpr std::array kWorlds = {
    World{"world-near-quick", 200us, 100us, 100, kQuickPpm},
    World{"world-near-slow-disk", 200us, 2ms, 100, kQuickPpm},
    World{"world-usual", 1ms, 300us, 100, kQuickPpm},
    World{"world-usual-costly", 1ms, 2ms, 200, kQuickPpm},
    World{"world-far", 5ms, 300us, 100, kSlowPpm},
    World{"world-far-slow-disk", 5ms, 2ms, 100, kSlowPpm},
    World{"world-very-far", 20ms, 2ms, 100, kSlowPpm},
};

inline std::vector<std::string> ProfileNames() {
  std::vector<std::string> names = {"low-jitter", "realistic", "slow-disk"};
  for (const World& world : kWorlds) names.emplace_back(world.name);
  return names;
}

// The profile on other processors: each cost is this share of what it was.
inline sim::Profile WithCosts(sim::Profile profile, int percent) {
  sim::CpuModel& cpu = profile.cpu;
  for (Duration* const cost : {&cpu.per_step, &cpu.per_frame, &cpu.per_client_frame, &cpu.per_io,
                               &cpu.per_kib, &cpu.per_io_kib, &cpu.per_observation}) {
    *cost = *cost * percent / 100;
  }
  return profile;
}

// `seed`: of the run, which draws its processors.
inline sim::Profile ProfileOf(const World& world, std::uint64_t seed) {
  sim::Profile profile = sim::Profile::TeachingRealistic();
  profile.name = world.name;
  profile.net.latency = world.link;
  profile.disk.sync = world.sync;
  RandomStream stream(seed, 0, kProcessors);
  const auto drawn = static_cast<std::int64_t>(1000 + stream.Below(1000)) << stream.Below(3);
  profile.cpu.told_ppm = world.told_ppm * drawn / 1000;
  return WithCosts(profile, world.cost_percent);
}

// Throws std::invalid_argument, in one line, for an unknown name.
inline sim::Profile ProfileOf(const std::string& name, std::uint64_t seed) {
  if (name == "low-jitter") return sim::Profile::TeachingLowJitter();
  if (name == "realistic") return sim::Profile::TeachingRealistic();
  if (name == "slow-disk") return sim::Profile::SlowDisk();
  for (const World& world : kWorlds) {
    if (name == world.name) return ProfileOf(world, seed);
  }
  throw std::invalid_argument("unknown profile '" + name + "'");
}

}  // namespace depfast::measure

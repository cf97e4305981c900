// The profiles of the measurement, by name.
#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sim/profile.h"

namespace depfast::measure {

// A world: other delays and costs than those of TeachingRealistic. One pair of thresholds does not
// fit all worlds. Delays vary: without that, a detector learns a threshold that is 2 % from usual.
struct World {
  const char* name;
  Duration link;  // one way
  Duration sync;
  int cost_percent;  // of the processor's
};

inline constexpr std::array kWorlds = {
    World{"world-near-quick", 200us, 100us, 100}, World{"world-near-slow-disk", 200us, 2ms, 100},
    World{"world-usual", 1ms, 300us, 100},        World{"world-usual-costly", 1ms, 2ms, 200},
    World{"world-far", 5ms, 300us, 100},          World{"world-very-far", 20ms, 2ms, 100},
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

inline sim::Profile ProfileOf(const World& world) {
  sim::Profile profile = sim::Profile::TeachingRealistic();
  profile.name = world.name;
  profile.net.latency = world.link;
  profile.disk.sync = world.sync;
  return WithCosts(profile, world.cost_percent);
}

// Throws std::invalid_argument, in one line, for an unknown name.
inline sim::Profile ProfileOf(const std::string& name) {
  if (name == "low-jitter") return sim::Profile::TeachingLowJitter();
  if (name == "realistic") return sim::Profile::TeachingRealistic();
  if (name == "slow-disk") return sim::Profile::SlowDisk();
  for (const World& world : kWorlds) {
    if (name == world.name) return ProfileOf(world);
  }
  throw std::invalid_argument("unknown profile '" + name + "'");
}

}  // namespace depfast::measure

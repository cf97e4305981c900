#include "sim/profile.h"

namespace depfast::sim {

Profile Profile::Lab() {
  Profile profile;
  profile.name = "lab";
  profile.net.latency_jitter = {300, 5, 10};
  profile.disk.sync_jitter = {300, 5, 10};
  return profile;
}

Profile Profile::TeachingLowJitter() {
  Profile profile;
  profile.name = "low-jitter";
  profile.cpu.per_step = 40us;
  profile.cpu.per_frame = 110us;
  profile.cpu.per_io = 20us;
  profile.cpu.per_kib = 20us;
  profile.cpu.frames_per_step_max = 64;
  profile.disk.per_batch = 50us;
  profile.disk.sync = 2ms;
  profile.disk.sync_jitter = {50, 0, 1};
  profile.disk.bytes_per_second = 50'000'000;
  profile.net.latency = 200us;
  profile.net.latency_jitter = {50, 0, 1};
  profile.memory.limit_bytes = 8 << 20;
  return profile;
}

Profile Profile::TeachingRealistic() {
  Profile profile = TeachingLowJitter();
  profile.name = "realistic";
  profile.disk.sync_jitter = {250, 20, 2};
  profile.net.latency_jitter = {250, 20, 2};
  return profile;
}

Profile Profile::Weightless() {
  Profile profile;
  profile.name = "weightless";
  profile.cpu = {1us, 100ns, 100ns, 10ns, 1024};
  profile.disk = {1us, 50us, {}, 4'000'000'000};
  profile.net = {20us, {}, 10'000'000'000, 4 << 20};
  return profile;
}

}  // namespace depfast::sim

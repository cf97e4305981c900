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
  profile.cpu.per_step = 20us;
  profile.cpu.per_frame = 20us;
  profile.cpu.per_client_frame = 200us;
  profile.cpu.per_io = 10us;
  profile.cpu.per_kib = 5us;
  profile.cpu.per_io_kib = 150us;
  profile.cpu.frames_per_connection_max = 8;
  profile.cpu.frames_per_step_max = 64;
  profile.disk.per_batch = 50us;
  profile.disk.sync = 2ms;
  profile.disk.sync_jitter = {20, 0, 1};
  profile.disk.bytes_per_second = 50'000'000;
  profile.net.latency = 200us;
  profile.net.latency_jitter = {20, 0, 1};
  profile.net.window_bytes = 64 * 1024;
  profile.memory.limit_bytes = 8 << 20;
  return profile;
}

Profile Profile::TeachingRealistic() {
  Profile profile = TeachingLowJitter();
  profile.name = "realistic";
  profile.disk.sync_jitter = {250, 5, 2};
  profile.net.latency_jitter = {250, 5, 2};
  return profile;
}

Profile Profile::Weightless() {
  Profile profile;
  profile.name = "weightless";
  profile.cpu = {1us, 100ns, 100ns, 100ns, 10ns, 10ns, 1024, 4096};
  profile.disk = {1us, 50us, {}, 4'000'000'000};
  profile.net = {20us, {}, 10'000'000'000, 4 << 20};
  return profile;
}

}  // namespace depfast::sim

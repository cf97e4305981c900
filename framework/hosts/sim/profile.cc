#include "sim/profile.h"

namespace depfast::sim {

Profile Profile::Lab() {
  Profile profile;
  profile.name = "lab";
  profile.net.latency_jitter = {300, 5, 10};
  profile.disk.sync_jitter = {300, 5, 10};
  return profile;
}

Profile Profile::SteadyLab() {
  Profile profile = Lab();
  profile.name = "steady-lab";
  profile.net.latency_jitter.tail_permille = 0;
  profile.disk.sync_jitter.tail_permille = 0;
  return profile;
}

Profile Profile::TeachingLowJitter() {
  Profile profile;
  profile.name = "low-jitter";
  // The application is the load: clients at the leader, commands at every replica. So a follower
  // with 5 % of its processor falls behind, and its leader saves nothing when it is dead.
  profile.cpu.per_client_frame = 200us;
  profile.cpu.per_observation = 45us;
  profile.cpu.per_step = 5us;
  profile.cpu.per_frame = 2us;
  profile.cpu.per_io = 5us;
  profile.cpu.per_kib = 1us;
  profile.cpu.per_io_kib = 5us;  // a compaction writes a MiB, and must not stop the leader
  profile.cpu.frames_per_connection_max = 8;
  profile.cpu.frames_per_step_max = 64;
  profile.disk.per_batch = 50us;
  // A sync is short beside the way to a follower and back. So it hardly matters whether the
  // replicas' disks sync in phase, and the quicker of two followers is hardly quicker than the
  // other.
  profile.disk.sync = 300us;
  profile.disk.sync_jitter = {20, 0, 1};
  profile.disk.bytes_per_second = 200'000'000;
  profile.net.latency = 1ms;
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

Profile Profile::SlowDisk() {
  Profile profile = TeachingLowJitter();
  profile.name = "slow-disk";
  profile.disk.sync = 5ms;
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

// Profile: what a simulated machine and network cost. All whole numbers, all with units.
#pragma once

#include <cstddef>
#include <cstdint>

#include "depfast/host/random.h"
#include "depfast/time.h"

namespace depfast::sim {

// How a duration varies: uniform within +-spread, and now and then a multiple of the base.
struct Jitter {
  int spread_permille = 0;
  int tail_permille = 0;  // how often a draw is a straggler
  int tail_factor = 1;    // a straggler takes base * factor more

  // Two draws, whatever the values, so that the stream does not depend on them.
  Duration Apply(Duration base, RandomStream& stream) const {
    const auto spread = static_cast<std::int64_t>(spread_permille);
    const auto offset =
        static_cast<std::int64_t>(stream.Below(static_cast<std::uint64_t>(2 * spread + 1)));
    const bool straggler = stream.Below(1000) < static_cast<std::uint64_t>(tail_permille);
    const Duration varied = base * (1000 - spread + offset) / 1000;
    return straggler ? varied + base * tail_factor : varied;
  }
};

// A serial processor, one core: a step costs this much before its outputs leave. The replica's own
// computation is free: it could not be charged the same on every machine.
//
// Replicas may share a core (Sharing, in simulator.h), and then interrupt each other.
struct CpuModel {
  Duration per_step = 10us;
  Duration per_frame = 5us;         // to or from a replica
  Duration per_client_frame = 5us;  // to or from a client: parsing, sessions, the application
  Duration per_io = 5us;            // submission or completion
  Duration per_kib = 1us;           // of frames, in or out
  Duration per_io_kib = 2us;        // written: encoding and checksums
  // Bounded round-robin reads (document 002, section 3.2.2): a step takes at most so many frames
  // from one connection and in all; the rest waits. Without this a burst from one peer, or from the
  // clients, would keep everybody's acknowledgements waiting.
  std::size_t frames_per_connection_max = 32;
  std::size_t frames_per_step_max = 256;
  // What a profile that is calibrated against a real machine tells apart, and the others do not.
  Duration per_burst{0};   // read: all frames that one sender's system call put on one connection
  Duration per_write{0};   // such a system call: for each connection that the step sends on
  Duration per_batch{0};   // of the thread that carries it out: see DiskModel::waits_per_batch
  Duration per_growth{0};  // more of such a batch: see DiskModel::growth
  Duration per_directory{0};  // more of such a batch: see DiskModel::directory
  // Whoever observes does so for each command: this stands for what the replica computes for it.
  Duration per_observation{0};
  Duration per_switch{0};  // when the core turns to another replica, or to another thread of it
  Duration wake{0};        // until a core that had nothing to do begins
};

// A serial disk that commits in groups: whatever has queued up is written and synced together.
struct DiskModel {
  Duration per_batch = 20us;
  Duration sync = 500us;
  Jitter sync_jitter{100, 0, 1};
  std::int64_t bytes_per_second = 200'000'000;
  // Of replicas that share a disk (Sharing, in simulator.h): so many batches are under way at once,
  // the others wait in the order in which they came. Whatever this is, none begins while one is
  // under way that creates, renames or removes a file: a journal commits all of that before it
  // commits anything else. A replica's own batches never overlap.
  int parallel_batches = 1;
  // The thread that carries a batch out sleeps so often until the device has done a part of it (a
  // file system that journals does not sync in one go), and needs the core before each sleep and
  // after the last. Time on the device and on the core is spread evenly.
  int waits_per_batch = 1;
  // More of a sync that has to allocate: an append began a new block of its file.
  Duration growth{0};
  std::size_t block_bytes = 4096;
  // More of a batch that creates, renames or removes a file: the directory is synced, too.
  Duration directory{0};
};

struct NetModel {
  Duration latency = 100us;  // one way
  Jitter latency_jitter{100, 0, 1};
  std::int64_t bytes_per_second = 1'000'000'000 / 8;  // of a replica's interface, outgoing
  // Bytes on the wire or unread by the receiver, per connection between replicas. What a window
  // cannot take waits in the sender's queue and is held.
  std::size_t window_bytes = 256 * 1024;
};

struct MemoryModel {
  // Held frames, unread inbox and queued disk writes. Above the limit every step pays for paging,
  // in proportion to the excess; at kill_factor times the limit the replica dies.
  std::size_t limit_bytes = 64 << 20;
  int kill_factor = 4;
  int paging_factor = 20;  // a step costs this many times more at twice the limit
};

struct Profile {
  const char* name = "default";
  CpuModel cpu;
  DiskModel disk;
  NetModel net;
  MemoryModel memory;

  // A small, quick world for tests of behaviour: latencies of a data centre.
  static Profile Lab();

  // About 2,000 operations a second from a good Raft, so that a graded run is short. Low jitter:
  // acknowledgements vary by at most 5 %, so that losing a spare replica costs nothing and 5 % of
  // degradation means something.
  static Profile TeachingLowJitter();

  // The same with realistic variation of disks and network: the mean wait for 2 of 3 grows when the
  // spare is gone.
  static Profile TeachingRealistic();

  // Costs so small that the simulator itself is the limit: for its benchmarks.
  static Profile Weightless();
};

}  // namespace depfast::sim

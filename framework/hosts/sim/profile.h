// Profile: the costs of a simulated machine and network. All are whole numbers with units.
#pragma once

#include <cstddef>
#include <cstdint>

#include "depfast/host/random.h"
#include "depfast/time.h"

namespace depfast::sim {

// The variation of a duration: uniform within +-spread, and now and then a multiple of the base.
struct Jitter {
  int spread_permille = 0;
  int tail_permille = 0;  // how often a draw is a straggler
  int tail_factor = 1;    // a straggler takes base * factor more

  // Always two draws, so that the stream does not depend on the values.
  Duration Apply(Duration base, RandomStream& stream) const {
    const auto spread = static_cast<std::int64_t>(spread_permille);
    const auto offset =
        static_cast<std::int64_t>(stream.Below(static_cast<std::uint64_t>(2 * spread + 1)));
    const bool straggler = stream.Below(1000) < static_cast<std::uint64_t>(tail_permille);
    const Duration varied = base * (1000 - spread + offset) / 1000;
    return straggler ? varied + base * tail_factor : varied;
  }
};

// A serial processor with one core. The outputs of a step leave when its cost has been paid. The
// replica's own computation is free: no charge for it would be the same on every machine.
struct CpuModel {
  Duration per_step = 10us;
  Duration per_frame = 5us;         // to or from a replica
  Duration per_client_frame = 5us;  // to or from a client: parsing, sessions, the application
  Duration per_io = 5us;            // submission or completion
  Duration per_kib = 1us;           // of frames, in or out
  Duration per_io_kib = 2us;        // written: encoding and checksums
  // Bounds of one step's reads, see inbox.h: frames from one connection, and in all.
  std::size_t frames_per_connection_max = 32;
  std::size_t frames_per_step_max = 256;
  Duration per_observation{0};  // a replica observes once for each command that it applies
  // The time on this processor, in millionths, of work that costs one on the processor for which
  // costs are told to the replica. It changes no time.
  std::int64_t told_ppm = 1'000'000;
};

// A serial disk with group commit: all queued operations are written and synced as one batch.
struct DiskModel {
  Duration per_batch = 20us;
  Duration sync = 500us;
  Jitter sync_jitter{100, 0, 1};
  std::int64_t bytes_per_second = 200'000'000;
};

struct NetModel {
  Duration latency = 100us;  // one way
  Jitter latency_jitter{100, 0, 1};
  std::int64_t bytes_per_second = 1'000'000'000 / 8;  // of a replica's interface, outgoing
  // Bytes on the wire or unread by the receiver, per connection between replicas. Frames that do
  // not fit wait in the sender's queue: they are held.
  std::size_t window_bytes = 256 * 1024;
};

struct MemoryModel {
  // Held frames, unread inbox and queued disk writes; the fault memory-contention sets another
  // limit, which is for the replica's own heap as well. Above the limit every step pays for paging,
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

  // Lab without stragglers, whose syncs take eleven times as long: for limits of few milliseconds.
  static Profile SteadyLab();

  // About 2,000 operations a second from a good Raft, so that a graded run is short. Low jitter:
  // syncs and messages vary by 2 %, and a sync is short beside the network's delay. So dead
  // followers cost a correct submission under 1 % of latency and of throughput, and a degradation
  // of 5 % is its own. The handbook's decisions on costs have the measurement.
  static Profile TeachingLowJitter();

  // Teaching with realistic variation of disks and network: the mean wait for 2 of 3 grows when the
  // spare is gone.
  static Profile TeachingRealistic();

  // TeachingLowJitter with syncs of 5 ms, several times the network's delay: the cost of an
  // acknowledgement that waits for a disk stands out.
  static Profile SlowDisk();

  // Costs so small that the simulator itself is the limit: for its benchmarks.
  static Profile Weightless();
};

}  // namespace depfast::sim

// Faults as typed values: an explicit list, never draws from a stream.
//
// Removing a fault from a plan changes nothing but that fault, so a failing plan can be minimised
// one fault at a time. The names are those of document 002, Table 2, and drive the fault scripts
// against real processes as well.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "depfast/host/host.h"
#include "depfast/time.h"

namespace depfast::sim {

struct Fault {
  enum class Kind : std::uint8_t {
    kCpuSlow,    // the replica gets `amount` percent of its processor
    kDiskSlow,   // its disk moves `amount` bytes per second
    kNetSlow,    // its interface adds `amount` nanoseconds to every frame it sends
    kCrash,      // it dies (unsynced writes are lost), and restarts when the fault ends
    kPartition,  // `replicas` cannot talk to the others; clients reach all
    kDrop,       // `amount` per mille of the frames it sends to replicas are lost
    kDuplicate,  // `amount` per mille of them arrive twice
    kReorder,    // `amount` per mille of them are overtaken: they arrive up to 20 ms late
  };

  Kind kind;
  std::vector<PeerId> replicas;  // whom it hits; for kPartition one side of the cut
  std::int64_t amount = 0;
  Time start{0};
  Duration duration = kForever;

  // Builders that read like the plan: CpuSlow({2}, 5).From(1s).For(3s).
  Fault From(Time when) const;
  Fault For(Duration how_long) const;
  Time end() const { return duration >= kNever - start ? kNever : start + duration; }

  // "cpu-slow 5% on replica 2 from 1.000 s for 3.000 s"
  std::string Describe() const;
  static const char* Name(Kind kind);
};

Fault CpuSlow(std::vector<PeerId> replicas, int percent);
Fault DiskSlow(std::vector<PeerId> replicas, std::int64_t bytes_per_second);
Fault NetSlow(std::vector<PeerId> replicas, Duration delay);
Fault CrashFault(std::vector<PeerId> replicas);
Fault PartitionFault(std::vector<PeerId> side);
Fault DropFault(std::vector<PeerId> senders, int permille);
Fault DuplicateFault(std::vector<PeerId> senders, int permille);
Fault ReorderFault(std::vector<PeerId> senders, int permille);

using FaultPlan = std::vector<Fault>;

}  // namespace depfast::sim

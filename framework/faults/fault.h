// A fault is a typed value: a kind, an amount, the replicas it hits, a start and a duration.
//
// A plan is an explicit list of faults, never draws from a random stream. The removal of a fault
// changes no other fault, so a failing plan can be minimised one fault at a time.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "depfast/host/host.h"
#include "depfast/time.h"
#include "faults/catalogue.h"

namespace depfast::faults {

struct Fault {
  using Kind = FaultKind;

  Kind kind;
  std::vector<PeerId> replicas;  // the replicas that are hit; of a partition one side
  std::int64_t amount = 0;       // in the unit of the kind's row
  Time start{0};
  Duration duration = kForever;
  std::vector<PeerId> receivers = {};  // at the other ends of links: see NamesReceivers

  // Builders that read like the plan: CpuSlow({2}, 5).From(1s).For(3s).
  Fault From(Time when) const;
  Fault For(Duration how_long) const;
  Time end() const { return duration >= kNever - start ? kNever : start + duration; }

  // "cpu-slow 5% on replica 2 from 1.000 s for 3.000 s". For people: times are cut off after the
  // millisecond. Print (in text.h) is exact.
  std::string Describe() const;
  static std::string Name(Kind kind) { return std::string(RowOf(kind).name); }

  bool operator==(const Fault&) const = default;
};

// Requires: the amount is within the bounds of the kind's row.
Fault MakeFault(Strength strength, std::vector<PeerId> replicas);

Fault CpuSlow(std::vector<PeerId> replicas, int percent);
Fault DiskSlow(std::vector<PeerId> replicas, std::int64_t bytes_per_second);
Fault NetSlow(std::vector<PeerId> replicas, Duration delay);
Fault CpuContention(std::vector<PeerId> replicas, int percent);
Fault DiskContention(std::vector<PeerId> replicas, int percent);
Fault MemoryContention(std::vector<PeerId> replicas, std::int64_t bytes);
Fault FsDelay(std::vector<PeerId> replicas, Duration delay);
Fault NetJitter(std::vector<PeerId> replicas, Duration delay_max);
Fault PacketLoss(std::vector<PeerId> senders, int permille);
Fault CrashFault(std::vector<PeerId> replicas);
Fault PartitionFault(std::vector<PeerId> side);
Fault DropFault(std::vector<PeerId> senders, int permille);
Fault DuplicateFault(std::vector<PeerId> senders, int permille);
Fault ReorderFault(std::vector<PeerId> senders, int permille);
// One way: `receivers` do not hear `senders`. Requires: receivers is not empty.
Fault CutFault(std::vector<PeerId> senders, std::vector<PeerId> receivers);

// Frames from `senders` to `receivers` take `delay` longer. Requires: receivers is not empty.
Fault LinkSlow(std::vector<PeerId> senders, std::vector<PeerId> receivers, Duration delay);
// Frames take `delay` longer, and younger frames may overtake them.
Fault LateFault(std::vector<PeerId> senders, std::vector<PeerId> receivers, Duration delay);
Fault DiskError(std::vector<PeerId> replicas, int permille);
Fault DiskFull(std::vector<PeerId> replicas, std::int64_t capacity_bytes);
Fault BitFlip(std::vector<PeerId> replicas, int permille_of_length);

// One direction between two replicas: sender, receiver.
using Cut = std::pair<PeerId, PeerId>;

// The one-way cuts that a fault makes among `replicas` replicas. A partition is a cut in both
// directions between its side and the others. Empty for kinds that cut nothing.
std::vector<Cut> CutsOf(const Fault& fault, int replicas);

using FaultPlan = std::vector<Fault>;

}  // namespace depfast::faults

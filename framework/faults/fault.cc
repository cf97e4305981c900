#include "faults/fault.h"

#include <algorithm>
#include <cassert>

namespace depfast::faults {
namespace {

bool Contains(const std::vector<PeerId>& replicas, PeerId replica) {
  return std::find(replicas.begin(), replicas.end(), replica) != replicas.end();
}

}  // namespace

Fault Fault::From(Time when) const {
  Fault copy = *this;
  copy.start = when;
  return copy;
}

Fault Fault::For(Duration how_long) const {
  Fault copy = *this;
  copy.duration = how_long;
  return copy;
}

Fault MakeFault(Strength strength, std::vector<PeerId> replicas) {
  const KindRow& row = RowOf(strength.kind);
  assert(strength.amount >= row.amount_min && strength.amount <= row.amount_max);
  return {strength.kind, std::move(replicas), strength.amount};
}

Fault CpuSlow(std::vector<PeerId> replicas, int percent) {
  return MakeFault({FaultKind::kCpuSlow, percent}, std::move(replicas));
}

Fault DiskSlow(std::vector<PeerId> replicas, std::int64_t bytes_per_second) {
  return MakeFault({FaultKind::kDiskSlow, bytes_per_second}, std::move(replicas));
}

Fault NetSlow(std::vector<PeerId> replicas, Duration delay) {
  return MakeFault({FaultKind::kNetSlow, delay.count()}, std::move(replicas));
}

Fault CpuContention(std::vector<PeerId> replicas, int percent) {
  return MakeFault({FaultKind::kCpuContention, percent}, std::move(replicas));
}

Fault DiskContention(std::vector<PeerId> replicas, int percent) {
  return MakeFault({FaultKind::kDiskContention, percent}, std::move(replicas));
}

Fault MemoryContention(std::vector<PeerId> replicas, std::int64_t bytes) {
  return MakeFault({FaultKind::kMemoryContention, bytes}, std::move(replicas));
}

Fault FsDelay(std::vector<PeerId> replicas, Duration delay) {
  return MakeFault({FaultKind::kFsDelay, delay.count()}, std::move(replicas));
}

Fault NetJitter(std::vector<PeerId> replicas, Duration delay_max) {
  return MakeFault({FaultKind::kNetJitter, delay_max.count()}, std::move(replicas));
}

Fault PacketLoss(std::vector<PeerId> senders, int permille) {
  return MakeFault({FaultKind::kPacketLoss, permille}, std::move(senders));
}

Fault CrashFault(std::vector<PeerId> replicas) {
  return MakeFault({FaultKind::kCrash}, std::move(replicas));
}

Fault PartitionFault(std::vector<PeerId> side) {
  return MakeFault({FaultKind::kPartition}, std::move(side));
}

Fault DropFault(std::vector<PeerId> senders, int permille) {
  return MakeFault({FaultKind::kDrop, permille}, std::move(senders));
}

Fault DuplicateFault(std::vector<PeerId> senders, int permille) {
  return MakeFault({FaultKind::kDuplicate, permille}, std::move(senders));
}

Fault ReorderFault(std::vector<PeerId> senders, int permille) {
  return MakeFault({FaultKind::kReorder, permille}, std::move(senders));
}

Fault CutFault(std::vector<PeerId> senders, std::vector<PeerId> receivers) {
  assert(!receivers.empty());
  Fault fault = MakeFault({FaultKind::kCut}, std::move(senders));
  fault.receivers = std::move(receivers);
  return fault;
}

Fault LinkSlow(std::vector<PeerId> senders, std::vector<PeerId> receivers, Duration delay) {
  assert(!receivers.empty());
  Fault fault = MakeFault({FaultKind::kLinkSlow, delay.count()}, std::move(senders));
  fault.receivers = std::move(receivers);
  return fault;
}

Fault LateFault(std::vector<PeerId> senders, std::vector<PeerId> receivers, Duration delay) {
  assert(!receivers.empty());
  Fault fault = MakeFault({FaultKind::kLate, delay.count()}, std::move(senders));
  fault.receivers = std::move(receivers);
  return fault;
}

Fault DiskError(std::vector<PeerId> replicas, int permille) {
  return MakeFault({FaultKind::kDiskError, permille}, std::move(replicas));
}

Fault DiskFull(std::vector<PeerId> replicas, std::int64_t capacity_bytes) {
  return MakeFault({FaultKind::kDiskFull, capacity_bytes}, std::move(replicas));
}

Fault BitFlip(std::vector<PeerId> replicas, int permille_of_length) {
  return MakeFault({FaultKind::kBitFlip, permille_of_length}, std::move(replicas));
}

std::vector<Cut> CutsOf(const Fault& fault, int replicas) {
  std::vector<Cut> cuts;
  for (PeerId from = 0; from < replicas; ++from) {
    for (PeerId to = 0; to < replicas; ++to) {
      if (from == to) continue;
      const bool from_side = Contains(fault.replicas, from);
      const bool apart =
          fault.kind == FaultKind::kPartition && from_side != Contains(fault.replicas, to);
      const bool unheard =
          fault.kind == FaultKind::kCut && from_side && Contains(fault.receivers, to);
      if (apart || unheard) cuts.emplace_back(from, to);
    }
  }
  return cuts;
}

}  // namespace depfast::faults

#include "sim/fault.h"

#include <cassert>
#include <utility>

namespace depfast::sim {
namespace {

std::string Seconds(Duration duration) {
  const auto ms = duration.count() / 1'000'000;
  std::string fraction = std::to_string(ms % 1000);
  fraction.insert(0, 3 - fraction.size(), '0');
  return std::to_string(ms / 1000) + "." + fraction + " s";
}

// In the large unit if that is exact: a fault is not described as another one, or as none.
std::string WithUnit(std::int64_t amount, std::int64_t large, const char* in_large,
                     const char* in_small) {
  return amount % large == 0 ? std::to_string(amount / large) + in_large
                             : std::to_string(amount) + in_small;
}

std::string AmountOf(const Fault& fault) {
  switch (fault.kind) {
    case Fault::Kind::kCpuSlow:
      return " " + std::to_string(fault.amount) + "%";
    case Fault::Kind::kDiskSlow:
      return " " + WithUnit(fault.amount, 1024, " KB/s", " B/s");
    case Fault::Kind::kNetSlow:
      return " " + WithUnit(fault.amount, 1'000'000, " ms", " ns");
    case Fault::Kind::kDrop:
    case Fault::Kind::kDuplicate:
    case Fault::Kind::kReorder:
      return " " + std::to_string(fault.amount) + " per mille";
    case Fault::Kind::kCrash:
    case Fault::Kind::kPartition:
      return "";
  }
  return "";
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

const char* Fault::Name(Kind kind) {
  static constexpr const char* kNames[] = {"cpu-slow",  "disk-slow", "net-slow",  "crash",
                                           "partition", "drop",      "duplicate", "reorder"};
  return kNames[static_cast<int>(kind)];
}

std::string Fault::Describe() const {
  std::string out = Name(kind) + AmountOf(*this);
  out += replicas.size() == 1 ? " on replica" : " on replicas";
  for (PeerId replica : replicas) out += " " + std::to_string(replica);
  out += " from " + Seconds(start);
  return duration == kForever ? out : out + " for " + Seconds(duration);
}

Fault CpuSlow(std::vector<PeerId> replicas, int percent) {
  assert(percent >= 1 && percent <= 100);
  return {Fault::Kind::kCpuSlow, std::move(replicas), percent};
}

Fault DiskSlow(std::vector<PeerId> replicas, std::int64_t bytes_per_second) {
  assert(bytes_per_second > 0);
  return {Fault::Kind::kDiskSlow, std::move(replicas), bytes_per_second};
}

Fault NetSlow(std::vector<PeerId> replicas, Duration delay) {
  assert(delay >= Duration::zero());
  return {Fault::Kind::kNetSlow, std::move(replicas), delay.count()};
}

Fault CrashFault(std::vector<PeerId> replicas) {
  return {Fault::Kind::kCrash, std::move(replicas), 0};
}

Fault PartitionFault(std::vector<PeerId> side) {
  return {Fault::Kind::kPartition, std::move(side), 0};
}

Fault DropFault(std::vector<PeerId> senders, int permille) {
  return {Fault::Kind::kDrop, std::move(senders), permille};
}

Fault DuplicateFault(std::vector<PeerId> senders, int permille) {
  return {Fault::Kind::kDuplicate, std::move(senders), permille};
}

Fault ReorderFault(std::vector<PeerId> senders, int permille) {
  return {Fault::Kind::kReorder, std::move(senders), permille};
}

}  // namespace depfast::sim

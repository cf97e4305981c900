#include "sim/effects.h"

#include <algorithm>

namespace depfast::sim {
namespace {

using faults::Fault;

// `delays`: by receiver.
void SlowLinks(const Fault& fault, std::size_t replicas, std::vector<Duration>& delays) {
  delays.resize(replicas);
  for (const PeerId receiver : fault.receivers) {
    if (receiver >= static_cast<PeerId>(replicas)) continue;
    Duration& delay = delays[static_cast<std::size_t>(receiver)];
    delay = std::max(delay, Duration(fault.amount));
  }
}

void LimitCapacity(std::int64_t bytes, DiskTrouble& trouble) {
  const std::int64_t now = trouble.capacity_bytes;
  trouble.capacity_bytes = now < 0 ? bytes : std::min(now, bytes);
}

void Apply(const Fault& fault, std::size_t replicas, ReplicaEffects& effects) {
  const auto amount = static_cast<int>(fault.amount);  // of a kind with small numbers
  switch (fault.kind) {
    case Fault::Kind::kCpuSlow:
      effects.cpu_percent = std::min(effects.cpu_percent, amount);
      break;
    case Fault::Kind::kDiskSlow: {
      const std::int64_t rate = effects.disk_bytes_per_second;
      effects.disk_bytes_per_second = rate == 0 ? fault.amount : std::min(rate, fault.amount);
      break;
    }
    case Fault::Kind::kNetSlow:
      effects.extra_delay = std::max(effects.extra_delay, Duration(fault.amount));
      break;
    case Fault::Kind::kCpuContention:
      effects.cpu_quota_percent = std::min(effects.cpu_quota_percent, amount);
      break;
    case Fault::Kind::kDiskContention:
      effects.disk_quota_percent = std::min(effects.disk_quota_percent, amount);
      break;
    case Fault::Kind::kFsDelay:
      effects.operation_delay = std::max(effects.operation_delay, Duration(fault.amount));
      break;
    case Fault::Kind::kMemoryContention: {
      const std::int64_t limit = effects.memory_limit_bytes;
      effects.memory_limit_bytes = limit == 0 ? fault.amount : std::min(limit, fault.amount);
      break;
    }
    case Fault::Kind::kMemoryShare:
      effects.memory_percent = std::min(effects.memory_percent, amount);
      break;
    case Fault::Kind::kNetJitter:
      effects.jitter = std::max(effects.jitter, Duration(fault.amount));
      break;
    case Fault::Kind::kPacketLoss:
      effects.packet_loss_permille = std::max(effects.packet_loss_permille, amount);
      break;
    case Fault::Kind::kDrop:
    case Fault::Kind::kDuplicate:
    case Fault::Kind::kReorder:
      effects.on_frames.push_back(fault);
      break;
    case Fault::Kind::kLinkSlow:
      SlowLinks(fault, replicas, effects.link_delay);
      break;
    case Fault::Kind::kLate:
      SlowLinks(fault, replicas, effects.link_late);
      break;
    case Fault::Kind::kDiskError: {
      int& permille = effects.disk_trouble.error_permille;
      permille = std::max(permille, amount);
      break;
    }
    case Fault::Kind::kDiskFull:
      LimitCapacity(fault.amount, effects.disk_trouble);
      break;
    case Fault::Kind::kCrash:  // these two are the injector's
    case Fault::Kind::kBitFlip:
    case Fault::Kind::kPartition:  // below
    case Fault::Kind::kCut:
      break;
  }
}

}  // namespace

void Effects::Set(const faults::FaultPlan& active, std::size_t replicas) {
  replicas_.assign(replicas, {});
  cut_.assign(replicas * replicas, 0);
  for (const Fault& fault : active) {
    for (std::size_t i = 0; i < replicas; ++i) {
      const auto& hit = fault.replicas;
      if (std::find(hit.begin(), hit.end(), static_cast<PeerId>(i)) == hit.end()) continue;
      Apply(fault, replicas, replicas_[i]);
    }
    for (const auto& [from, to] : faults::CutsOf(fault, static_cast<int>(replicas))) {
      cut_[static_cast<std::size_t>(from) * replicas + static_cast<std::size_t>(to)] = 1;
    }
  }
}

}  // namespace depfast::sim

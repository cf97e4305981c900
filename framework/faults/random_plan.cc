#include "faults/random_plan.h"

#include <cassert>

namespace depfast::faults {
namespace {

Fault RandomFault(RandomStream& random, const ChaosOptions& options) {
  const auto replicas = static_cast<std::uint64_t>(options.replicas);
  const auto victim = static_cast<PeerId>(random.Below(replicas));
  Strength strength = options.mix[random.Below(options.mix.size())];
  const PeerId successor = (victim + 1) % options.replicas;
  if (strength.kind == FaultKind::kPartition) return PartitionFault({victim, successor});
  if (strength.kind == FaultKind::kDiskSlow) strength.amount = options.disk_bytes_per_second;
  Fault fault = MakeFault(strength, {victim});
  if (NamesReceivers(strength.kind)) fault.receivers = {successor};
  return fault;
}

}  // namespace

std::vector<Strength> UsualMix() {
  return {
      PresetStrength("cpu-slow"),  PresetStrength("disk-slow"), PresetStrength("net-slow-40ms"),
      PresetStrength("partition"), PresetStrength("drop"),      PresetStrength("duplicate"),
      PresetStrength("reorder"),   PresetStrength("crash"),
  };
}

std::vector<Strength> HarshMix() {
  auto mix = UsualMix();
  mix.push_back(PresetStrength("partition"));
  mix.push_back(PresetStrength("crash"));
  mix.push_back({FaultKind::kCut, 0});
  return mix;
}

FaultPlan RandomPlan(RandomStream& random, const ChaosOptions& options) {
  assert(options.replicas >= 1 && options.length > 1s && !options.mix.empty());
  FaultPlan plan;
  for (int i = 0; i < options.faults; ++i) {
    const Fault fault = RandomFault(random, options);
    const Time start = options.begin + random.Below(options.length - 1s);
    plan.push_back(fault.From(start).For(100ms + random.Below(Duration(1s))));
  }
  return plan;
}

}  // namespace depfast::faults

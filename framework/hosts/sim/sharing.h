// Sharing: which replicas run on one machine. Only predictions of experiments on one machine share
// anything; a simulation without sharing touches none of this.
#pragma once

#include <cstddef>
#include <vector>

#include "depfast/host/host.h"

namespace depfast::sim {

// Each list is of replicas that share one core, or one disk device. A replica in no list has its
// own. Files are never shared.
//
// On a shared core steps and disk batches take turns, and interrupt each other: see fair_core.h.
// A slow processor (cpu-slow, cpu-contention) is that of one replica, like a bandwidth limit: its
// steps take longer, and the core is free for the others in the time that the fault adds. A slow
// disk (disk-slow, disk-contention, fs-delay) delays the batches of one replica, and not the
// device.
struct Sharing {
  std::vector<std::vector<PeerId>> cpu_groups;
  std::vector<std::vector<PeerId>> disk_groups;
};

// Numbers the groups of two and more replicas from `replicas` on, and every other replica by its
// own index. Returns the number of each replica's group. Requires: the groups name replicas, each
// replica at most once.
std::vector<std::size_t> NumberGroups(const std::vector<std::vector<PeerId>>& groups,
                                      std::size_t replicas);

}  // namespace depfast::sim

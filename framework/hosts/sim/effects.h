// Effects: the sum of the faults under way, for each replica. A component reads its slowness from
// here; no component knows the list of faults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "depfast/time.h"
#include "faults/fault.h"
#include "sim/disk.h"

namespace depfast::sim {

// The strongest fault of each kind counts.
struct ReplicaEffects {
  int cpu_percent = 100;
  int cpu_quota_percent = 100;             // see quota.h
  int disk_quota_percent = 100;            // of the device's time
  std::int64_t disk_bytes_per_second = 0;  // 0: the model's
  Duration operation_delay{0};             // of every disk operation
  DiskTrouble disk_trouble;
  Duration extra_delay{0};               // of every frame that the replica sends
  Duration jitter{0};                    // the most that is added to extra_delay
  std::int64_t memory_limit_bytes = 0;   // of all that is resident; 0: none
  int memory_percent = 100;              // limit: this share of the smallest healthy heap
  int packet_loss_permille = 0;          // see retransmission.h
  std::vector<Duration> link_delay;      // by receiver; empty: no link is slow
  std::vector<Duration> link_late;       // the same, of frames that may be overtaken
  std::vector<faults::Fault> on_frames;  // drop, duplicate, reorder: on frames to replicas
};

class Effects {
 public:
  explicit Effects(std::size_t replicas) { Set({}, replicas); }

  // From now on the effects are those of `active` on `replicas` replicas.
  void Set(const faults::FaultPlan& active, std::size_t replicas);

  // The effects on a replica. The reference is good until the next Set.
  const ReplicaEffects& of(std::size_t replica) const { return replicas_[replica]; }

  // Whether replica `to` does not hear replica `from`.
  bool Cuts(std::size_t from, std::size_t to) const {
    return cut_[from * replicas_.size() + to] != 0;
  }

 private:
  std::vector<ReplicaEffects> replicas_;
  std::vector<std::uint8_t> cut_;  // [from][to]
};

}  // namespace depfast::sim

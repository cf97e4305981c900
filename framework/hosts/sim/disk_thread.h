// DiskThread: carries out one replica's disk batches, one after the other. A batch is everything
// that was submitted before it begins.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "depfast/host/host.h"
#include "faults/quota.h"
#include "sim/agenda.h"
#include "sim/disk.h"
#include "sim/effects.h"
#include "sim/incarnation.h"

namespace depfast::sim {

class DiskThread {
 public:
  using Finished = std::function<void(std::vector<IoCompletion>)>;

  // `finished`: called when a batch has ended, before the next begins. `on_rewrite`: see
  // SimDisk::FinishBatch. All arguments outlive the thread.
  DiskThread(SimDisk disk, const Incarnation& life, const Effects& effects, Agenda& agenda,
             Finished finished, std::function<void()> on_rewrite)
      : disk_(std::move(disk)),
        life_(life),
        effects_(effects),
        agenda_(agenda),
        finished_(std::move(finished)),
        on_rewrite_(std::move(on_rewrite)) {}

  const SimDisk& disk() const { return disk_; }

  void FlipBit(const std::string& file, std::size_t byte) { disk_.FlipBit(file, byte); }
  void FailNext(FileChange change) { disk_.FailNext(std::move(change)); }

  // The request is queued until Start.
  void Submit(IoRequest request) { disk_.Submit(std::move(request)); }

  // Begins a batch if there is work and none is under way.
  void Start();

  // The batch under way has taken its time: its operations take effect.
  void OnBatchEnd();  // kBatchEnd

  // The replica dies: a batch under way is torn.
  void Crash();

 private:
  SimDisk disk_;
  const Incarnation& life_;
  const Effects& effects_;
  Agenda& agenda_;
  const Finished finished_;
  const std::function<void()> on_rewrite_;
  faults::Quota quota_;  // of the device
};

}  // namespace depfast::sim

// DiskThread: carries out one replica's disk batches, one after the other.
//
// A batch is everything that was submitted before it begins. The thread takes turns: a part on the
// core, a wait for the device, a part on the core, and so on (DiskModel::waits_per_batch). The time
// on core and device is spread evenly over the turns.
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
#include "sim/processor.h"
#include "sim/profile.h"
#include "sim/shared_devices.h"
#include "sim/thread.h"

namespace depfast::sim {

class DiskThread {
 public:
  using Finished = std::function<void(std::vector<IoCompletion>)>;

  // `shared`: null, or the devices that replicas share. `finished`: called when a batch has ended,
  // before the next begins. `on_rewrite`: see SimDisk::FinishBatch. All arguments outlive the
  // thread.
  DiskThread(const Profile& profile, SimDisk disk, const Incarnation& life, const Effects& effects,
             Agenda& agenda, Processor& processor, SharedDevices* shared, Finished finished,
             std::function<void()> on_rewrite)
      : profile_(profile),
        disk_(std::move(disk)),
        life_(life),
        effects_(effects),
        agenda_(agenda),
        processor_(processor),
        shared_(shared),
        finished_(std::move(finished)),
        on_rewrite_(std::move(on_rewrite)) {}

  const SimDisk& disk() const { return disk_; }

  void FlipBit(const std::string& file, std::size_t byte) { disk_.FlipBit(file, byte); }
  void FailNext(FileChange change) { disk_.FailNext(std::move(change)); }

  // The request is queued until Start.
  void Submit(IoRequest request) { disk_.Submit(std::move(request)); }

  // Begins a batch if there is work and none is under way.
  void Start();

  // The events of a batch, in this order, repeated for each turn.
  void OnCore();      // kBatch
  void OnCorePart();  // kBatchPart
  void BeginTransfer();
  void OnDeviceFree() { shared_->Leave(life_.replica); }  // kDeviceFree, on a shared device only
  void OnDeviceDone();                                    // kDeviceDone

  // The replica dies: a batch under way is torn. Requires: the processor is cleared.
  void Crash();

 private:
  bool NeedsCore() const { return profile_.cpu.per_batch > Duration::zero(); }
  bool SharesDevice() const { return shared_ != nullptr && shared_->IsShared(life_.replica); }
  void ToCore();
  void OffCore();
  void Finish();

  const Profile& profile_;
  SimDisk disk_;
  const Incarnation& life_;
  const Effects& effects_;
  Agenda& agenda_;
  Processor& processor_;
  SharedDevices* const shared_;
  const Finished finished_;
  const std::function<void()> on_rewrite_;
  bool under_way_ = false;  // a batch has begun, or waits for the core to begin
  faults::Quota quota_;     // of the device
  BatchTime time_{};        // of the batch that has begun
  int waits_ = 0;           // for the device, that the batch has yet to begin or end
};

}  // namespace depfast::sim

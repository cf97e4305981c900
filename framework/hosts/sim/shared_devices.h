// SharedDevices: disk devices that carry out the batches of several replicas.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "sim/profile.h"
#include "sim/sharing.h"
#include "sim/waiting_line.h"

namespace depfast::sim {

class SharedDevices {
 public:
  // `begin`: called whenever the device has turned to a replica's batch.
  SharedDevices(const DiskModel& model, std::size_t replicas,
                const std::vector<std::vector<PeerId>>& groups,
                std::function<void(std::size_t replica)> begin)
      : replicas_(replicas),
        device_of_(NumberGroups(groups, replicas)),
        devices_(groups.size(), Device(static_cast<std::size_t>(model.parallel_batches))),
        begin_(std::move(begin)) {}

  // Whether the replica shares its device; of one that does not nothing below may be called.
  bool IsShared(std::size_t replica) const { return device_of_[replica] >= replicas_; }

  // The replica's batch needs the device; `alone`: no other batch may begin beside it.
  void Enter(std::size_t replica, bool alone) {
    if (DeviceOf(replica).Enter(replica, alone)) begin_(replica);
  }

  // The device has done its part of the replica's batch. Nothing happens if it had none.
  void Leave(std::size_t replica) {
    for (const std::size_t next : DeviceOf(replica).Leave(replica)) begin_(next);
  }

 private:
  using Device = WaitingLine<std::size_t>;  // of replicas

  Device& DeviceOf(std::size_t replica) { return devices_[device_of_[replica] - replicas_]; }

  std::size_t replicas_;
  std::vector<std::size_t> device_of_;
  std::vector<Device> devices_;
  std::function<void(std::size_t)> begin_;
};

}  // namespace depfast::sim

// GroupView: one group of a simulated cluster, by the ids that its members use for one another.
//
// Checkers and clients of a replicated log see this view: they work for any group unchanged. In a
// cluster of one group it adds nothing, ids and addresses are the same (groups.h).
#pragma once

#include <functional>
#include <utility>

#include "depfast/host/host.h"
#include "depfast/time.h"
#include "sim/simulator.h"

namespace depfast::sim {

class GroupView {
 public:
  // The simulator outlives the view. A simulator stands for its first group, so that code for one
  // group need not name it. Requires: there is such a group.
  GroupView(Simulator& simulator, int group = 0)  // NOLINT(google-explicit-constructor)
      : simulator_(&simulator), group_(group) {}

  Simulator& simulator() const { return *simulator_; }
  int group() const { return group_; }
  int replicas() const { return simulator_->groups().size(group_); }
  Time now() const { return simulator_->now(); }
  void At(Time when, std::function<void()> action) const {
    simulator_->At(when, std::move(action));
  }

  // Requires of a member, here and below: 0 <= member < replicas().
  PeerId AddressOf(PeerId member) const { return simulator_->groups().AddressOf(group_, member); }
  bool IsUp(PeerId member) const { return simulator_->IsUp(AddressOf(member)); }
  const SimDisk& disk(PeerId member) const { return simulator_->disk(AddressOf(member)); }

  // `observer` hears of the group's members by their ids, and of their frames to and from members
  // and clients. Frames across groups are hidden, so that no checker of a log takes a stranger for
  // a member: a checker of those watches the simulator. Of the world and its faults it hears
  // everything, by addresses. Not owned; must outlive the simulator.
  void AddObserver(Observer* observer) const;

 private:
  Simulator* simulator_;
  int group_;
};

}  // namespace depfast::sim

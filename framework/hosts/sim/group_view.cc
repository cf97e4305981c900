#include "sim/group_view.h"

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace depfast::sim {
namespace {

class GroupObserver final : public Observer {
 public:
  GroupObserver(const Groups& groups, int group, Observer& observer)
      : groups_(groups), group_(group), observer_(observer) {}

  void OnStep(PeerId replica, const StepInput& input, const StepOutput& output) override {
    if (!IsMember(replica)) return;
    StepOutput named = output;
    named.outputs = Named(output.outputs);
    observer_.OnStep(Id(replica), Named(input), named);
  }
  void OnOutputsLeave(PeerId replica, Time now, const std::vector<Output>& outputs) override {
    if (IsMember(replica)) observer_.OnOutputsLeave(Id(replica), now, Named(outputs));
  }
  void OnDisk(PeerId replica, Time now, const SimDisk& disk) override {
    if (IsMember(replica)) observer_.OnDisk(Id(replica), now, disk);
  }
  void OnWorld(Time now, const std::string& what) override { observer_.OnWorld(now, what); }
  void OnRestart(PeerId replica, Time now) override {
    if (IsMember(replica)) observer_.OnRestart(Id(replica), now);
  }
  void OnRewrite(PeerId replica, Time now, const SimDisk& disk) override {
    if (IsMember(replica)) observer_.OnRewrite(Id(replica), now, disk);
  }
  void OnFrame(FrameStage stage, PeerId from, PeerId to, Time now, const Bytes& frame) override {
    if (IsHidden(from) || IsHidden(to)) return;
    if (IsMember(from) || IsMember(to)) observer_.OnFrame(stage, Id(from), Id(to), now, frame);
  }
  void OnDeath(PeerId replica, Time now, const std::string& why) override {
    if (IsMember(replica)) observer_.OnDeath(Id(replica), now, why);
  }
  void OnFaultBegins(Time now, const faults::Fault& fault) override {
    observer_.OnFaultBegins(now, fault);
  }
  void OnFaultEnds(Time now, const faults::Fault& fault) override {
    observer_.OnFaultEnds(now, fault);
  }

 private:
  bool IsReplica(PeerId address) const { return address >= 0 && address < groups_.replicas(); }
  bool IsMember(PeerId address) const {
    return IsReplica(address) && groups_.GroupOf(address) == group_;
  }
  bool IsHidden(PeerId address) const { return IsReplica(address) && !IsMember(address); }
  PeerId Id(PeerId address) const { return groups_.IdIn(group_, address); }

  StepInput Named(const StepInput& input) const {
    StepInput named = input;
    std::erase_if(named.frames, [this](const FrameArrival& frame) { return IsHidden(frame.from); });
    for (FrameArrival& frame : named.frames) frame.from = Id(frame.from);
    const auto first = input.held_bytes.begin() + groups_.AddressOf(group_, 0);
    named.held_bytes.assign(first, first + groups_.size(group_));
    return named;
  }
  std::vector<Output> Named(std::vector<Output> outputs) const {
    std::erase_if(outputs, [this](const Output& one) {
      const auto* const send = std::get_if<SendFrame>(&one);
      const auto* const release = std::get_if<ReleaseFrame>(&one);
      return (send != nullptr && IsHidden(send->to)) ||
             (release != nullptr && IsHidden(release->to));
    });
    for (Output& one : outputs) {
      if (auto* const send = std::get_if<SendFrame>(&one)) send->to = Id(send->to);
      if (auto* const release = std::get_if<ReleaseFrame>(&one)) release->to = Id(release->to);
    }
    return outputs;
  }

  const Groups& groups_;
  const int group_;
  Observer& observer_;
};

}  // namespace

void GroupView::AddObserver(Observer* observer) const {
  const Groups& groups = simulator_->groups();
  if (groups.count() == 1) {
    simulator_->AddObserver(observer);
  } else {
    simulator_->AddObserver(std::make_unique<GroupObserver>(groups, group_, *observer));
  }
}

}  // namespace depfast::sim

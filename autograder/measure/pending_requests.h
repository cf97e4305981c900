// PendingRequests: the requests of replicas to other replicas that have no answer yet, counted from
// frames. No claim of a replica is needed.
//
// A request is pending until its sender reads the answer, takes the frame back before it is on the
// wire, or the network loses it. A call that its sender has given up while its request is under way
// stays pending: the slow peer still has to serve it.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "depfast/host/frame.h"
#include "sim/observer.h"

namespace depfast::measure {

class PendingRequests : public sim::Observer {
 public:
  // The pending requests of one replica to all others, now.
  std::size_t CountOf(PeerId replica) const;

  void OnFrame(sim::FrameStage stage, PeerId from, PeerId to, Time now,
               const Bytes& frame) override;
  void OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput& output) override;
  void OnRestart(PeerId replica, Time now) override;

 private:
  std::map<std::pair<PeerId, PeerId>, std::set<CallId>> by_link_;  // (sender, receiver)
};

}  // namespace depfast::measure

// WorldState: a hash of a simulated world's state, apart from the time.
//
// It covers the bytes on disks and on their way there, and the frames under way and unread. It also
// covers the latest observations, the outputs of steps under way, and the faults. It does not cover
// the memory of replicas, the time, or the numbers of calls: two worlds with equal hashes may go on
// differently.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "sim/observer.h"
#include "sim/simulator.h"

namespace depfast::testkit {

class WorldState : public sim::Observer {
 public:
  // Watches `simulator` from now on. Requires: called before its first event; outlives it.
  explicit WorldState(sim::Simulator& simulator);

  std::uint64_t Hash() const;

  void OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput& output) override;
  void OnOutputsLeave(PeerId replica, Time now, const std::vector<sim::Output>& outputs) override;
  void OnFrame(sim::FrameStage stage, PeerId from, PeerId to, Time now,
               const Bytes& frame) override;
  void OnDeath(PeerId replica, Time now, const std::string& why) override;
  void OnFaultBegins(Time now, const faults::Fault& fault) override;
  void OnFaultEnds(Time now, const faults::Fault& fault) override;

 private:
  using Way = std::pair<PeerId, PeerId>;  // from, to
  struct Replica {
    std::map<std::uint32_t, std::uint64_t> claims;  // the latest of each kind, hashed
    std::uint64_t leaving = 0;                      // the outputs of the step under way
  };

  Replica& At(PeerId replica) { return replicas_[static_cast<std::size_t>(replica)]; }

  const sim::Simulator& simulator_;
  std::vector<Replica> replicas_;
  std::map<Way, std::deque<std::uint64_t>> on_the_way_;
  std::map<Way, std::deque<std::uint64_t>> unread_;
  faults::FaultPlan under_way_;
};

}  // namespace depfast::testkit

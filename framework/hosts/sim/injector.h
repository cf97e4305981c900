// Injector: begins and ends faults, by plan and by hand.
//
// It keeps the list of the faults under way and turns it into effects, which the other components
// read. A crash has no effect of its own: the injector asks the simulator to stop and start the
// replica.
#pragma once

#include <functional>
#include <set>

#include "depfast/host/host.h"
#include "faults/fault.h"
#include "sim/agenda.h"
#include "sim/effects.h"
#include "sim/observer.h"

namespace depfast::sim {

class Injector {
 public:
  // `crash`, `restart`: of one replica; nothing happens if it is down or up already. The references
  // outlive the injector.
  Injector(int replicas, Agenda& agenda, Effects& effects, Observers& observers,
           std::function<void(PeerId)> crash, std::function<void(PeerId)> restart);

  // Each fault of the plan begins and ends at its time, or now if that is past.
  void Schedule(const faults::FaultPlan& plan);

  // Begins a fault now, at any time of its plan.
  void Begin(const faults::Fault& fault);
  // Ends a fault now. Of equal faults under way it ends one; of none, it ends nothing.
  void End(const faults::Fault& fault);
  // Ends every fault under way and restarts every replica that is down.
  void HealAll();

  // A fault of memory has killed the replica. It restarts when such a fault ends.
  void OnKilled(PeerId replica) { killed_.insert(replica); }

 private:
  void Update();

  const int replicas_;
  Agenda& agenda_;
  Effects& effects_;
  Observers& observers_;
  const std::function<void(PeerId)> crash_;
  const std::function<void(PeerId)> restart_;
  faults::FaultPlan active_;  // without crashes
  std::set<PeerId> killed_;
};

}  // namespace depfast::sim

// Injector: begins and ends faults, by plan and by hand.
//
// It keeps the list of the faults under way and turns it into effects, which the other components
// read. A crash and a bit flip have no effect of that sort: the injector asks the simulator to stop
// and start the replica, or to damage its files. When a fault that fails writes ends, it asks the
// simulator to repair the replica.
#pragma once

#include <functional>
#include <set>

#include "depfast/host/host.h"
#include "faults/fault.h"
#include "sim/agenda.h"
#include "sim/effects.h"
#include "sim/observer.h"

namespace depfast::sim {

// The injector's actions on one replica, by way of the simulator.
struct ReplicaControls {
  std::function<void(PeerId)> crash;    // nothing happens if it is down
  std::function<void(PeerId)> restart;  // nothing happens if it is up
  // Restarts it if a write of its has failed, whether it died of that or not.
  std::function<void(PeerId)> repair;
  // Flips a bit in each of its files, at this share of the file's length.
  std::function<void(PeerId, std::int64_t permille)> flip_bits;
};

class Injector {
 public:
  // The references outlive the injector.
  Injector(int replicas, Agenda& agenda, Effects& effects, Observers& observers,
           ReplicaControls controls);

  // Each fault of the plan begins and ends at its time, or now if that is past.
  void Schedule(const faults::FaultPlan& plan);

  // Begins a fault now, at any time of its plan.
  void Begin(const faults::Fault& fault);
  // Ends a fault now. Of equal faults under way it ends one; of none, it ends nothing.
  void End(const faults::Fault& fault);
  // Ends every fault under way, and restarts every replica that is down or that a write has failed.
  void HealAll();

  // A fault of memory has killed the replica. It restarts when such a fault ends.
  void OnKilled(PeerId replica) { killed_.insert(replica); }

 private:
  void Update();

  const int replicas_;
  Agenda& agenda_;
  Effects& effects_;
  Observers& observers_;
  const ReplicaControls controls_;
  faults::FaultPlan active_;  // without crashes and bit flips
  std::set<PeerId> killed_;
};

}  // namespace depfast::sim

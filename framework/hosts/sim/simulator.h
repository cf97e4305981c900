// Simulator: replicas, clients, a network, disks and processors in virtual time.
//
// It is composed of an agenda (events in order of time), wires (the network), a machine for each
// replica (core, disk, memory), and an injector (faults). A run is a function of its options and of
// the test's calls. The simulator is also the kit's measuring instrument. It charges a replica for
// the data that cross its Host and ignores the replica's own figures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "depfast/host/groups.h"
#include "depfast/host/host.h"
#include "depfast/time.h"
#include "faults/fault.h"
#include "sim/addresses.h"
#include "sim/agenda.h"
#include "sim/disk.h"
#include "sim/effects.h"
#include "sim/injector.h"
#include "sim/machine.h"
#include "sim/observer.h"
#include "sim/profile.h"
#include "sim/step.h"
#include "sim/trace.h"
#include "sim/wires.h"

namespace depfast::sim {

struct SimOptions {
  int replicas = 3;  // ignored if there are groups
  std::uint64_t seed = 1;
  Profile profile;
  BackendFactory make_backend;
  std::vector<std::string> probes = {};  // that each replica makes, see ReplicaConfig
  std::vector<int> groups = {};          // their sizes, see Groups; empty: one group
};

class Simulator {
 public:
  // Replicas are not running until Start.
  explicit Simulator(SimOptions options);
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  Time now() const { return agenda_.now(); }
  int replicas() const { return groups_.replicas(); }
  const Groups& groups() const { return groups_; }
  const SimOptions& options() const { return options_; }

  // --- the world's actors ---

  void Start();

  // A client is outside the model: it computes for free and its connections have no window.
  using OnFrame = std::function<void(PeerId from, const Bytes& frame)>;
  // May be called at any time, also from a client's own callback.
  PeerId AddClient(OnFrame on_frame);
  void ClientSend(PeerId client, PeerId replica, Bytes frame);

  // Calls `action` at `when`. Requires: when >= now().
  void At(Time when, std::function<void()> action) { agenda_.At(when, std::move(action)); }

  // --- faults: see injector.h ---

  // May be called at any time.
  void Schedule(const faults::FaultPlan& plan) { injector_.Schedule(plan); }
  void Begin(const faults::Fault& fault) { injector_.Begin(fault); }
  void End(const faults::Fault& fault) { injector_.End(fault); }
  // Ends all faults and restarts the replicas that are down.
  void HealAll() { injector_.HealAll(); }

  // Nothing happens if the replica is down already, or up already.
  void Crash(PeerId replica, const std::string& why = "crash");
  void Restart(PeerId replica);
  // If a write of the replica has failed, restarts it, whether it died of that or not.
  void Repair(PeerId replica);
  // Damages a durable byte of a file. Requires: the file has that byte.
  void FlipBit(PeerId replica, const std::string& file, std::size_t byte);
  // The replica's next such change of a file fails, and so do all later operations of its disk
  // until its next start.
  void FailNext(PeerId replica, FileChange change);
  bool IsUp(PeerId replica) const { return MachineOf(replica).is_on(); }

  // --- running ---

  // Handles the next event, if it is not later than `limit`. Returns false (and moves the clock to
  // the limit) if there is none.
  bool StepUntil(Time limit);
  // Requires: limit >= now().
  void RunUntil(Time limit);
  void RunFor(Duration duration) { RunUntil(now() + duration); }

  // --- observation ---

  // Not owned; must outlive the simulator. Called in the order of addition.
  void AddObserver(Observer* observer) { observers_.Add(observer); }
  void AddObserver(std::unique_ptr<Observer> observer) {
    observers_.Add(owned_observers_.emplace_back(std::move(observer)).get());
  }

  Trace& trace() { return observers_.trace(); }
  const SimDisk& disk(PeerId replica) const { return MachineOf(replica).disk(); }
  std::uint64_t events() const { return agenda_.events(); }
  // Bytes that `from` holds for `to`: sent, and not taken by the wire.
  std::size_t HeldBytes(PeerId from, PeerId to) const;
  // The most that a replica has ever held for one peer, since the last ResetPeaks.
  std::size_t PeakHeldBytes(PeerId from) const;
  void ResetPeaks() { wires_.ResetPeaks(); }
  // Empty, or why the first replica died that was not crashed by the test: a verdict. A replica may
  // die after one of its writes has failed, and while one of its files is damaged.
  const std::string& first_death() const { return first_death_; }
  // Any replica may die at any time: one that is down has no coroutines, reports and bytes.
  std::string DumpCoroutines(PeerId replica);
  // See ReplicaBackend::Report.
  std::string Report(PeerId replica, const std::string& probe);
  // See ReplicaBackend::ResidentBytes.
  std::size_t ResidentBytes(PeerId replica) const;

 private:
  MachineRoom Room();
  std::uint64_t SmallestHealthyHeap() const;
  Machine& MachineOf(PeerId replica) const { return *machines_[addresses_.IndexOf(replica)]; }
  void Handle(Event& event);
  void HandleArrival(Event& event);
  void Boot(std::size_t index);
  void Kill(std::size_t index, const std::string& why);
  // The replica died by itself: that is a verdict, see first_death.
  void Die(std::size_t index, const std::string& why);
  void FlipBits(PeerId replica, std::int64_t permille);

  SimOptions options_;
  const Groups groups_;
  Addresses addresses_;
  Agenda agenda_;
  std::vector<std::unique_ptr<Observer>> owned_observers_;
  Observers observers_;
  Effects effects_;
  Wires wires_;
  Injector injector_;
  MachineRoom room_;
  std::vector<std::unique_ptr<Machine>> machines_;  // by replica
  std::vector<std::uint64_t> starts_;               // by replica: how often it has started
  std::vector<bool> stopped_by_disk_;  // by replica: is down since it died of a failed write
  std::deque<OnFrame> clients_;  // a client may be added while another's frame is being handled
  std::string first_death_;
};

}  // namespace depfast::sim

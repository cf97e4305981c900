// Machine: the computer of one replica: its core, its disk, its memory; and the replica's life on
// it.
//
// A step begins when there is something to read (frames, completions, the timer) and the core is
// free. Its outputs leave when its cost has been paid for, on a slow processor later. The memory in
// use is the data that the machine holds for the replica. Under a fault of memory the replica's own
// heap is in use as well. Above a limit every step pays for paging; far above it the replica dies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "depfast/host/host.h"
#include "depfast/host/probe.h"
#include "depfast/time.h"
#include "faults/quota.h"
#include "sim/agenda.h"
#include "sim/disk.h"
#include "sim/disk_thread.h"
#include "sim/effects.h"
#include "sim/incarnation.h"
#include "sim/observer.h"
#include "sim/profile.h"
#include "sim/step.h"
#include "sim/step_cost.h"
#include "sim/wires.h"

namespace depfast::sim {

// The parts of the simulation that a machine uses. All outlive the machines.
struct MachineRoom {
  const Profile& profile;
  const Addresses& addresses;
  const Effects& effects;
  Agenda& agenda;
  Observers& observers;
  Wires& wires;
  // A replica has died by itself. Must turn its machine off before it returns.
  std::function<void(std::size_t replica, const std::string& why)> died;
  // A fault of memory kills a replica, which restarts when the fault ends. Must do like `died`.
  std::function<void(std::size_t replica, const std::string& why)> killed;
  // The bytes of the smallest heap of a replica that is on and has no fault of memory; 0: none.
  std::function<std::uint64_t()> smallest_healthy_heap;
};

class Machine {
 public:
  Machine(std::size_t replica, const MachineRoom& room, SimDisk disk);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  bool is_on() const { return backend_ != nullptr; }
  // Null while the machine is off.
  ReplicaBackend* backend() { return backend_.get(); }
  const SimDisk& disk() const { return disk_.disk(); }
  // At the end of the step before the latest; see StepOutput.
  std::uint64_t heap_bytes() const { return heap_bytes_; }
  DiskThread& disk_thread() { return disk_; }

  // The replica starts. Requires: the machine is off.
  void TurnOn(std::unique_ptr<ReplicaBackend> backend);
  // The replica dies: unsynced writes, unread completions and outputs that have not left are lost.
  // Requires: the machine is on.
  void TurnOff();

  // There is something to read.
  void ScheduleStep();

  // Handles an event of this replica, due now. An event of an older incarnation is void.
  void Handle(const Event& event);

 private:
  PeerId self() const { return room_.addresses.IdOf(life_.replica); }
  Time now() const { return room_.agenda.now(); }
  const ReplicaEffects& effects() const { return room_.effects.of(life_.replica); }
  // Under a fault of memory the tighter of two limits counts: the machine's, and the fault's, which
  // is for the heap as well.
  MemoryUse Memory() const;
  // The fault's limit; 0: none.
  std::int64_t MemoryLimit() const;
  // Whether the replica is dead: it is far above its limit, or its files are.
  bool RunsOutOfMemory(const MemoryUse& memory);
  bool HasFullDisk();
  StepInput CollectInput();
  void BeginStep();
  void EndStep();
  void ReleaseOutputs();
  void SetTimer(Time when);
  void OnTimer();
  void OnBatchFinished(std::vector<IoCompletion> completions);

  const MachineRoom& room_;
  Incarnation life_;
  std::unique_ptr<ReplicaBackend> backend_;  // null while the machine is off
  faults::Quota quota_;                      // of the processor
  DiskThread disk_;
  bool step_scheduled_ = false;
  bool busy_ = false;             // a step is under way
  std::uint64_t heap_bytes_ = 0;  // of the replica: see StepOutput
  StepUsage last_step_;           // of the step under way, or of the latest; zero before the first
  std::vector<Output> leaving_;   // of the step under way
  std::vector<IoCompletion> completions_;
  bool timer_due_ = false;
  Time timer_ = kNever;
};

}  // namespace depfast::sim

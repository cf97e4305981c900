// SharedCores: cores on which several threads take turns. These are the threads of replicas that
// share a core, and of a replica whose disk thread also needs the core (CpuModel::per_batch).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "depfast/time.h"
#include "sim/agenda.h"
#include "sim/fair_core.h"
#include "sim/profile.h"
#include "sim/sharing.h"
#include "sim/thread.h"

namespace depfast::sim {

class SharedCores {
 public:
  // All arguments but the groups outlive the cores.
  SharedCores(const CpuModel& model, std::size_t replicas,
              const std::vector<std::vector<PeerId>>& groups, Agenda& agenda);

  // The thread becomes ready. It gets a kStep or kBatch event once it has the core. Requires: it is
  // not on its core and not waiting for it.
  void Enter(const Incarnation& life, Thread thread);

  // The thread, which has its core, needs it for `cost`; under a fault of its processor the work
  // takes longer. It gets a kStepEnd or kBatchPart event once the work may be done.
  // Requires: takes >= cost.
  void Occupy(std::size_t replica, Thread thread, Duration cost, Duration takes);

  // Whether the work ends now, at `when`, for which a kStepEnd or kBatchPart event has come. It
  // does not if the thread was interrupted since, or if its processor is slow and needs more time;
  // then another event will come.
  bool IsDone(std::size_t replica, Thread thread, Time when);

  // The thread has done its work. Nothing happens if it is away.
  void Leave(std::size_t replica, Thread thread);

  // The replica dies: both of its threads leave.
  void Remove(std::size_t replica);

 private:
  struct Core {
    FairCore threads;
    std::optional<FairCore::Thread> last;  // the latest that it turned to
    Time idle_since{0};                    // kNever while it is busy
  };

  struct Work {
    std::uint64_t epoch = 0;  // of the thread's replica, when it entered
    Time ends = kNever;       // if it is under way: its core may be taken from it
    Duration lasts{0};        // beyond the time that it needs its core: its processor is slow
  };

  Core& CoreOf(std::size_t replica) { return cores_[core_of_[replica]]; }
  Work& WorkOf(FairCore::Thread number) { return work_[number]; }
  static FairCore::Thread NumberOf(std::size_t replica, Thread thread) {
    return replica * kThreads + static_cast<std::size_t>(thread);
  }
  static std::size_t ReplicaOf(FairCore::Thread number) { return number / kThreads; }
  static Thread ThreadOf(FairCore::Thread number) { return static_cast<Thread>(number % kThreads); }

  void TurnTo(Core& core);
  void Run(FairCore::Thread number, Time from, Duration work);
  void EndAt(FairCore::Thread number, Time when);

  const CpuModel& model_;
  Agenda& agenda_;
  const std::size_t replicas_;
  std::vector<std::size_t>
      core_of_;  // by replica; a group's core has a number of replicas_ or more
  std::vector<Core> cores_;
  std::vector<Work> work_;  // by thread number
};

}  // namespace depfast::sim

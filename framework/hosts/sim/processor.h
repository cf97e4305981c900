// Processor: the core of one replica, as its threads see it.
//
// A core that serves one thread needs no turns: work begins at once and ends when it has been paid
// for. Where threads share a core, SharedCores decides.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "depfast/time.h"
#include "faults/quota.h"
#include "sim/agenda.h"
#include "sim/effects.h"
#include "sim/profile.h"
#include "sim/shared_cores.h"
#include "sim/thread.h"

namespace depfast::sim {

class Processor {
 public:
  // `shared`: null if nothing is shared and the disk thread needs no core (CpuModel::per_batch is
  // zero); then only the step thread calls the functions below. All arguments outlive it.
  Processor(const CpuModel& model, const Incarnation& life, const Effects& effects, Agenda& agenda,
            SharedCores* shared)
      : model_(model), life_(life), effects_(effects), agenda_(agenda), shared_(shared) {}

  // The thread becomes ready. It gets a kStep or kBatch event when it has the core. Requires: it is
  // not on its core and not waiting for it.
  void Enter(Thread thread) {
    if (shared_ != nullptr) {
      shared_->Enter(life_, thread);
      return;
    }
    const Time now = agenda_.now();
    const Time begins = idle_since_ < now ? now + model_.wake : now;
    idle_since_ = kNever;
    agenda_.Push(begins, BeginOf(thread), life_.replica, life_.epoch);
  }

  // The thread, which has the core, needs `cost` of a processor without fault. It gets a kStepEnd
  // or kBatchPart event; the work is done if IsDone says so.
  void Occupy(Thread thread, Duration cost) {
    const ReplicaEffects& effects = effects_.of(life_.replica);
    const Time now = agenda_.now();
    const Duration takes =
        quota_.Spend(now, cost * 100 / effects.cpu_percent, effects.cpu_quota_percent);
    if (shared_ != nullptr) {
      shared_->Occupy(life_.replica, thread, cost, takes);
    } else {
      agenda_.Push(now + takes, EndOf(thread), life_.replica, life_.epoch);
    }
  }

  bool IsDone(Thread thread) {
    return shared_ == nullptr || shared_->IsDone(life_.replica, thread, agenda_.now());
  }

  void Leave(Thread thread) {
    if (shared_ != nullptr) {
      shared_->Leave(life_.replica, thread);
    } else {
      idle_since_ = std::min(idle_since_, agenda_.now());
    }
  }

  // The replica dies.
  void Clear() {
    quota_ = {};
    if (shared_ != nullptr) {
      shared_->Remove(life_.replica);
    } else {
      idle_since_ = std::min(idle_since_, agenda_.now());
    }
  }

 private:
  const CpuModel& model_;
  const Incarnation& life_;
  const Effects& effects_;
  Agenda& agenda_;
  SharedCores* const shared_;
  faults::Quota quota_;
  Time idle_since_{0};  // kNever while the core is busy; unused if it is shared
};

}  // namespace depfast::sim

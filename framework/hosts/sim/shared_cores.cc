#include "sim/shared_cores.h"

#include <algorithm>
#include <utility>

namespace depfast::sim {

SharedCores::SharedCores(const CpuModel& model, std::size_t replicas,
                         const std::vector<std::vector<PeerId>>& groups, Agenda& agenda)
    : model_(model),
      agenda_(agenda),
      replicas_(replicas),
      core_of_(NumberGroups(groups, replicas)),
      cores_(replicas + groups.size()),
      work_(replicas * kThreads) {}

void SharedCores::Enter(const Incarnation& life, Thread thread) {
  Core& core = CoreOf(life.replica);
  const FairCore::Thread number = NumberOf(life.replica, thread);
  WorkOf(number).epoch = life.epoch;
  const auto interrupted = core.threads.running();
  if (!core.threads.Enter(number, agenda_.now())) return;
  if (interrupted) WorkOf(*interrupted).ends = kNever;
  TurnTo(core);
}

// The core's next thread begins, or resumes the work in which it was interrupted.
void SharedCores::TurnTo(Core& core) {
  const FairCore::Thread number = *core.threads.running();
  Time begins = agenda_.now();
  if (core.idle_since < begins) begins += model_.wake;
  if (core.last && core.last != number) begins += model_.per_switch;
  core.last = number;
  core.idle_since = kNever;
  const Duration left = core.threads.left(number);
  if (left > Duration::zero()) {
    Run(number, begins, left);
  } else {
    agenda_.Push(begins, BeginOf(ThreadOf(number)), ReplicaOf(number), WorkOf(number).epoch);
  }
}

void SharedCores::Occupy(std::size_t replica, Thread thread, Duration cost, Duration takes) {
  const bool shared = core_of_[replica] >= replicas_;
  const Duration on_core = shared ? cost : takes;
  const FairCore::Thread number = NumberOf(replica, thread);
  WorkOf(number).lasts = takes - on_core;
  Run(number, agenda_.now(), on_core);
}

void SharedCores::Run(FairCore::Thread number, Time from, Duration work) {
  CoreOf(ReplicaOf(number)).threads.Begin(from, work);
  EndAt(number, from + work);
}

void SharedCores::EndAt(FairCore::Thread number, Time when) {
  WorkOf(number).ends = when;
  agenda_.Push(when, EndOf(ThreadOf(number)), ReplicaOf(number), WorkOf(number).epoch);
}

bool SharedCores::IsDone(std::size_t replica, Thread thread, Time when) {
  const FairCore::Thread number = NumberOf(replica, thread);
  Work& work = WorkOf(number);
  if (work.ends != when) return false;
  work.ends = kNever;
  const Duration lasts = std::exchange(work.lasts, Duration::zero());
  if (lasts == Duration::zero()) return true;
  Leave(replica, thread);
  EndAt(number, when + lasts);
  return false;
}

void SharedCores::Leave(std::size_t replica, Thread thread) {
  Core& core = CoreOf(replica);
  const bool turns = core.threads.Leave(NumberOf(replica, thread), agenda_.now());
  if (!core.threads.running()) core.idle_since = std::min(core.idle_since, agenda_.now());
  if (turns) TurnTo(core);
}

void SharedCores::Remove(std::size_t replica) {
  // The first thread to leave may admit the second, whose events are void with the epoch.
  for (const Thread thread : {Thread::kStep, Thread::kDisk}) Leave(replica, thread);
  for (const Thread thread : {Thread::kStep, Thread::kDisk}) {
    WorkOf(NumberOf(replica, thread)) = {};
  }
}

}  // namespace depfast::sim

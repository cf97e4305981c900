#include "sim/injector.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace depfast::sim {

using faults::Fault;

Injector::Injector(int replicas, Agenda& agenda, Effects& effects, Observers& observers,
                   ReplicaControls controls)
    : replicas_(replicas),
      agenda_(agenda),
      effects_(effects),
      observers_(observers),
      controls_(std::move(controls)) {}

void Injector::Schedule(const faults::FaultPlan& plan) {
  for (const Fault& fault : plan) {
    const Time now = agenda_.now();
    agenda_.At(std::max(fault.start, now), [this, fault] { Begin(fault); });
    if (fault.end() < kNever) {
      agenda_.At(std::max(fault.end(), now), [this, fault] { End(fault); });
    }
  }
}

void Injector::Begin(const Fault& fault) {
  observers_.TellWorld(agenda_.now(), "begins: " + fault.Describe());
  observers_.Tell(&Observer::OnFaultBegins, agenda_.now(), fault);
  if (fault.kind == Fault::Kind::kCrash) {
    for (const PeerId replica : fault.replicas) controls_.crash(replica);
    return;
  }
  if (fault.kind == Fault::Kind::kBitFlip) {
    for (const PeerId replica : fault.replicas) controls_.flip_bits(replica, fault.amount);
    return;
  }
  active_.push_back(fault);
  Update();
}

void Injector::End(const Fault& fault) {
  observers_.TellWorld(agenda_.now(), "ends: " + fault.Describe());
  observers_.Tell(&Observer::OnFaultEnds, agenda_.now(), fault);
  if (fault.kind == Fault::Kind::kCrash) {
    for (const PeerId replica : fault.replicas) controls_.restart(replica);
    return;
  }
  const auto found = std::find(active_.begin(), active_.end(), fault);
  if (found != active_.end()) active_.erase(found);
  Update();
  for (const PeerId replica : fault.replicas) {
    if (faults::FailsWrites(fault.kind)) controls_.repair(replica);
    const bool restarts = faults::LimitsMemory(fault.kind) && killed_.erase(replica) > 0;
    if (restarts) controls_.restart(replica);
  }
}

void Injector::HealAll() {
  observers_.TellWorld(agenda_.now(), "everything heals");
  for (const Fault& fault : active_) {
    observers_.Tell(&Observer::OnFaultEnds, agenda_.now(), fault);
  }
  active_.clear();
  killed_.clear();
  Update();
  for (PeerId replica = 0; replica < replicas_; ++replica) {
    controls_.repair(replica);
    controls_.restart(replica);
  }
}

void Injector::Update() { effects_.Set(active_, static_cast<std::size_t>(replicas_)); }

}  // namespace depfast::sim

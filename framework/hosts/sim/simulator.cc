#include "sim/simulator.h"

#include <cassert>
#include <numeric>
#include <optional>
#include <utility>

#include "depfast/host/random.h"
#include "sim/streams.h"

namespace depfast::sim {
namespace {

Groups GroupsOf(const SimOptions& options) {
  const std::vector<int>& sizes = options.groups;
  const int sum = std::accumulate(sizes.begin(), sizes.end(), 0);
  return Groups(sizes.empty() ? options.replicas : sum, sizes);
}

}  // namespace

Simulator::Simulator(SimOptions options)
    : options_(std::move(options)),
      groups_(GroupsOf(options_)),
      addresses_(groups_.replicas()),
      effects_(addresses_.replicas()),
      wires_(options_.profile.net, options_.seed, addresses_, effects_, agenda_, observers_),
      injector_(groups_.replicas(), agenda_, effects_, observers_,
                {.crash = [this](PeerId replica) { Crash(replica); },
                 .restart = [this](PeerId replica) { Restart(replica); },
                 .repair = [this](PeerId replica) { Repair(replica); },
                 .flip_bits = [this](PeerId replica,
                                     std::int64_t permille) { FlipBits(replica, permille); }}),
      room_(Room()),
      starts_(addresses_.replicas()),
      stopped_by_disk_(addresses_.replicas()) {
  assert(groups_.replicas() >= 1 && options_.make_backend);
  for (std::size_t i = 0; i < addresses_.replicas(); ++i) {
    SimDisk disk(options_.profile.disk, RandomStream(options_.seed, i, kDiskStream),
                 RandomStream(options_.seed, i, kTornStream));
    machines_.push_back(std::make_unique<Machine>(i, room_, std::move(disk)));
  }
}

Simulator::~Simulator() = default;

MachineRoom Simulator::Room() {
  return {options_.profile,
          addresses_,
          effects_,
          agenda_,
          observers_,
          wires_,
          [this](std::size_t replica, const std::string& why) { Die(replica, why); },
          [this](std::size_t replica, const std::string& why) {
            Kill(replica, why);
            injector_.OnKilled(addresses_.IdOf(replica));
          },
          [this] { return SmallestHealthyHeap(); }};
}

std::uint64_t Simulator::SmallestHealthyHeap() const {
  std::uint64_t smallest = 0;
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    const ReplicaEffects& effects = effects_.of(i);
    const bool has_fault = effects.memory_limit_bytes > 0 || effects.memory_percent < 100;
    if (has_fault || !machines_[i]->is_on()) continue;
    const std::uint64_t heap = machines_[i]->heap_bytes();
    if (smallest == 0 || heap < smallest) smallest = heap;
  }
  return smallest;
}

// ---- actors ----

void Simulator::Start() {
  for (std::size_t i = 0; i < addresses_.replicas(); ++i) Boot(i);
}

PeerId Simulator::AddClient(OnFrame on_frame) {
  const std::size_t index = addresses_.AddClient();
  clients_.push_back(std::move(on_frame));
  wires_.AddClient();
  return addresses_.IdOf(index);
}

void Simulator::ClientSend(PeerId client, PeerId replica, Bytes frame) {
  wires_.Send(addresses_.IndexOf(client), addresses_.IndexOf(replica), 0, std::move(frame));
}

void Simulator::Boot(std::size_t index) {
  ReplicaConfig config;
  config.self = addresses_.IdOf(index);
  config.replicas = groups_.replicas();
  config.groups = options_.groups;
  config.probes = options_.probes;
  RandomStream stream(options_.seed, index, kReplicaStream);
  for (std::uint64_t i = 0; i < starts_[index]; ++i) stream.Next();
  config.random_seed = stream.Next();
  ++starts_[index];
  wires_.Connect(index);
  machines_[index]->TurnOn(options_.make_backend(config));
}

void Simulator::Crash(PeerId replica, const std::string& why) {
  if (IsUp(replica)) Kill(addresses_.IndexOf(replica), why);
}

void Simulator::Kill(std::size_t index, const std::string& why) {
  machines_[index]->TurnOff();
  wires_.Disconnect(index);
  observers_.TellWorld(now(), "replica " + std::to_string(index) + " dies", why);
  observers_.Tell(&Observer::OnDeath, addresses_.IdOf(index), now(), why);
}

void Simulator::Die(std::size_t index, const std::string& why) {
  const SimDisk& disk = machines_[index]->disk();
  stopped_by_disk_[index] = disk.has_failed();
  const bool excused = disk.has_failed() || disk.is_damaged();
  if (first_death_.empty() && !excused)
    first_death_ = "replica " + std::to_string(index) + " died: " + why;
  Kill(index, why.substr(0, why.find('\n')));  // places in a program are no part of a history
}

void Simulator::Restart(PeerId replica) {
  if (IsUp(replica)) return;
  stopped_by_disk_[addresses_.IndexOf(replica)] = false;
  Boot(addresses_.IndexOf(replica));
  observers_.TellWorld(now(), "replica " + std::to_string(replica) + " restarts");
  observers_.Tell(&Observer::OnRestart, replica, now());
}

void Simulator::Repair(PeerId replica) {
  if (IsUp(replica) && disk(replica).has_failed()) {
    Crash(replica, "its disk is repaired");
  } else if (!stopped_by_disk_[addresses_.IndexOf(replica)]) {
    return;
  }
  Restart(replica);
}

void Simulator::FlipBit(PeerId replica, const std::string& file, std::size_t byte) {
  MachineOf(replica).disk_thread().FlipBit(file, byte);
  observers_.TellWorld(now(), "a bit flips in byte " + std::to_string(byte) + " of " + file +
                                  " of replica " + std::to_string(replica));
}

void Simulator::FailNext(PeerId replica, FileChange change) {
  MachineOf(replica).disk_thread().FailNext(std::move(change));
}

void Simulator::FlipBits(PeerId replica, std::int64_t permille) {
  const auto files = disk(replica).files();  // a copy: FlipBit changes them
  for (const auto& [name, file] : files) {
    if (file.durable_bytes == 0) continue;
    const std::size_t last = file.durable_bytes - 1;
    FlipBit(replica, name, last * static_cast<std::size_t>(permille) / 1000);
  }
}

// ---- running ----

bool Simulator::StepUntil(Time limit) {
  std::optional<Event> event = agenda_.Pop(limit);
  if (event) Handle(*event);
  return event.has_value();
}

void Simulator::RunUntil(Time limit) {
  assert(limit >= now());
  while (StepUntil(limit)) {
  }
}

void Simulator::Handle(Event& event) {
  if (event.kind == Event::Kind::kCall) {
    event.call();
  } else if (event.kind == Event::Kind::kArrive) {
    HandleArrival(event);
  } else {
    machines_[static_cast<std::size_t>(event.node)]->Handle(event);
  }
}

void Simulator::HandleArrival(Event& event) {
  const auto to = static_cast<std::size_t>(event.node);
  switch (wires_.Arrive(event)) {
    case Wires::Arrival::kUnread:
      machines_[to]->ScheduleStep();
      break;
    case Wires::Arrival::kAtClient:
      clients_[to - addresses_.replicas()](addresses_.IdOf(static_cast<std::size_t>(event.from)),
                                           event.bytes);
      break;
    case Wires::Arrival::kLost:
      break;
  }
}

// ---- observation ----

std::size_t Simulator::HeldBytes(PeerId from, PeerId to) const {
  return wires_.HeldBytes(addresses_.IndexOf(from), addresses_.IndexOf(to));
}

std::size_t Simulator::PeakHeldBytes(PeerId from) const {
  return wires_.PeakHeldBytes(addresses_.IndexOf(from));
}

std::string Simulator::DumpCoroutines(PeerId replica) {
  return IsUp(replica) ? MachineOf(replica).backend()->DumpCoroutines() : "";
}

std::string Simulator::Report(PeerId replica, const std::string& probe) {
  return IsUp(replica) ? MachineOf(replica).backend()->Report(probe) : "";
}

std::size_t Simulator::ResidentBytes(PeerId replica) const {
  return IsUp(replica) ? MachineOf(replica).backend()->ResidentBytes() : 0;
}

}  // namespace depfast::sim

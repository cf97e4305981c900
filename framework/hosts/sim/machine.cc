#include "sim/machine.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>
#include <variant>

#include "sim/step_cost.h"

namespace depfast::sim {
namespace {

// Empty frames have no bytes, but take the simulator's memory.
constexpr std::size_t kWaitingMax = 1'000'000;

// No test of a lab fills a tenth of such a disk, and a grader has the memory for a few.
constexpr std::size_t kDiskBytesMax = std::size_t{64} << 20;
constexpr std::size_t kBlockBytes = 4096;  // an empty file takes a block

}  // namespace

Machine::Machine(std::size_t replica, const MachineRoom& room, SimDisk disk)
    : room_(room),
      life_{replica, 0},
      disk_(
          std::move(disk), life_, room.effects, room.agenda,
          [this](std::vector<IoCompletion> done) { OnBatchFinished(std::move(done)); },
          [this] { room_.observers.Tell(&Observer::OnRewrite, self(), now(), this->disk()); }) {}

void Machine::TurnOn(std::unique_ptr<ReplicaBackend> backend) {
  assert(!is_on());
  backend_ = std::move(backend);
  ScheduleStep();
}

void Machine::TurnOff() {
  assert(is_on());
  quota_ = {};
  disk_.Crash();
  ++life_.epoch;
  backend_.reset();
  step_scheduled_ = busy_ = timer_due_ = false;
  timer_ = kNever;
  last_step_ = {};
  heap_bytes_ = 0;
  leaving_.clear();
  completions_.clear();
}

void Machine::Handle(const Event& event) {
  if (event.epoch != life_.epoch) return;  // the replica died in the meantime
  switch (event.kind) {
    case Event::Kind::kStep:
      BeginStep();
      break;
    case Event::Kind::kStepEnd:
      EndStep();
      break;
    case Event::Kind::kWake:
      OnTimer();
      break;
    case Event::Kind::kBatchEnd:
      disk_.OnBatchEnd();
      break;
    case Event::Kind::kArrive:
    case Event::Kind::kCall:
      assert(false && "not an event of a machine");
      break;
  }
}

// ---- steps ----

void Machine::ScheduleStep() {
  if (step_scheduled_ || busy_) return;
  step_scheduled_ = true;
  room_.agenda.Push(now(), Event::Kind::kStep, life_.replica, life_.epoch);
}

StepInput Machine::CollectInput() {
  StepInput input;
  input.now = now();
  input.last_cost = last_step_.cost * 1'000'000 / room_.profile.cpu.told_ppm;
  input.last_took = last_step_.took;
  input.completions = std::exchange(completions_, {});
  room_.wires.Read(life_.replica, room_.profile.cpu, input.frames);
  input.held_bytes.reserve(room_.addresses.replicas());
  for (std::size_t to = 0; room_.addresses.IsReplica(to); ++to) {
    input.held_bytes.push_back(room_.wires.HeldBytes(life_.replica, to));
  }
  return input;
}

void Machine::BeginStep() {
  step_scheduled_ = false;
  timer_due_ = false;
  const MemoryUse memory = Memory();
  if (RunsOutOfMemory(memory)) return;
  const StepInput input = CollectInput();
  Trace& trace = room_.observers.trace();
  trace.Add(self(), input);
  StepOutput output = backend_->Step(input);
  trace.Add(self(), now(), output);
  const std::uint64_t epoch = life_.epoch;
  room_.observers.Tell(&Observer::OnStep, self(), input, output);
  if (epoch != life_.epoch) return;  // an observer crashed it
  if (!output.death.empty()) {
    room_.died(life_.replica, output.death);
    return;
  }
  heap_bytes_ = output.heap_bytes;
  busy_ = true;
  const Duration cost = StepCost(room_.profile, input, output, memory);
  last_step_ = {now(), cost, Duration::zero()};
  leaving_ = std::move(output.outputs);
  const Duration takes =
      quota_.Spend(now(), cost * 100 / effects().cpu_percent, effects().cpu_quota_percent);
  room_.agenda.Push(now() + takes, Event::Kind::kStepEnd, life_.replica, life_.epoch);
}

void Machine::EndStep() {
  const std::uint64_t epoch = life_.epoch;
  busy_ = false;
  last_step_.took = now() - last_step_.began;
  ReleaseOutputs();
  if (epoch != life_.epoch) return;  // an observer crashed it
  const bool unread = room_.wires.HasUnread(life_.replica) || !completions_.empty();
  if (unread || timer_due_) ScheduleStep();
}

void Machine::ReleaseOutputs() {
  std::vector<Output> outputs = std::exchange(leaving_, {});
  const std::uint64_t epoch = life_.epoch;
  room_.observers.Tell(&Observer::OnOutputsLeave, self(), now(), outputs);
  if (epoch != life_.epoch) return;    // an observer crashed it
  const SetWake* last_wake = nullptr;  // each wish replaces the one before it
  for (Output& output : outputs) {
    if (auto* send = std::get_if<SendFrame>(&output)) {
      room_.wires.Send(life_.replica, room_.addresses.IndexOf(send->to), send->id,
                       std::move(send->bytes));
    } else if (const auto* release = std::get_if<ReleaseFrame>(&output)) {
      room_.wires.Release(life_.replica, room_.addresses.IndexOf(release->to), release->id);
    } else if (auto* io = std::get_if<IoRequest>(&output)) {
      disk_.Submit(std::move(*io));
    } else if (const auto* wake = std::get_if<SetWake>(&output)) {
      last_wake = wake;
    }
  }
  if (last_wake != nullptr) SetTimer(last_wake->when);
  disk_.Start();
}

void Machine::SetTimer(Time when) {
  timer_ = std::max(when, now());
  room_.agenda.Push(timer_, Event::Kind::kWake, life_.replica, life_.epoch);
}

void Machine::OnTimer() {
  if (timer_ != now()) return;  // replaced by another wish
  timer_ = kNever;
  timer_due_ = true;
  ScheduleStep();
}

MemoryUse Machine::Memory() const {
  const std::size_t held = room_.wires.UnreadBytes(life_.replica) + disk().queued_bytes() +
                           room_.wires.HeldBytes(life_.replica);
  const MemoryUse usual{static_cast<std::int64_t>(held),
                        static_cast<std::int64_t>(room_.profile.memory.limit_bytes)};
  const std::int64_t limit = MemoryLimit();
  if (limit == 0) return usual;
  const MemoryUse contended{usual.bytes + static_cast<std::int64_t>(heap_bytes_), limit, true};
  const auto permille = [](const MemoryUse& use) { return use.bytes * 1000 / use.limit; };
  return permille(contended) > permille(usual) ? contended : usual;
}

std::int64_t Machine::MemoryLimit() const {
  const std::int64_t bytes = effects().memory_limit_bytes;
  if (effects().memory_percent == 100) return bytes;
  const auto healthy = static_cast<std::int64_t>(room_.smallest_healthy_heap());
  const std::int64_t share = healthy * effects().memory_percent / 100;
  return bytes > 0 && share > 0 ? std::min(bytes, share) : std::max(bytes, share);
}

bool Machine::RunsOutOfMemory(const MemoryUse& memory) {
  const std::size_t waiting = room_.wires.WaitingFrames(life_.replica) + disk().queued_operations();
  if (waiting > kWaitingMax) {
    room_.died(life_.replica, "out of memory: it held " + std::to_string(waiting) +
                                  " frames and disk operations, most of them empty");
    return true;
  }
  if (memory.bytes <= memory.limit * room_.profile.memory.kill_factor) return false;
  const auto& end = memory.has_heap ? room_.killed : room_.died;
  end(life_.replica, "out of memory: it held " + std::to_string(memory.bytes) +
                         " bytes (unsent frames, unread frames and unfinished disk writes" +
                         (memory.has_heap ? ", and its heap)" : ")"));
  return true;
}

// ---- disk ----

void Machine::OnBatchFinished(std::vector<IoCompletion> completions) {
  const std::uint64_t epoch = life_.epoch;
  std::move(completions.begin(), completions.end(), std::back_inserter(completions_));
  room_.observers.Tell(&Observer::OnDisk, self(), now(), disk());
  if (epoch != life_.epoch) return;  // an observer crashed it
  if (HasFullDisk()) return;
  disk_.Start();
  ScheduleStep();
}

bool Machine::HasFullDisk() {
  const std::size_t used = disk().file_bytes() + disk().files().size() * kBlockBytes;
  if (used <= kDiskBytesMax) return false;
  room_.died(life_.replica, "its disk is full: " + std::to_string(disk().files().size()) +
                                " files take " + std::to_string(used) + " bytes of " +
                                std::to_string(kDiskBytesMax));
  return true;
}

}  // namespace depfast::sim

#include "sim/simulator.h"

#include <algorithm>
#include <cassert>
#include <tuple>
#include <utility>

namespace depfast::sim {
namespace {

// Components with a random stream of their own, so that a draw in one moves nothing in another.
enum Component : std::uint64_t {
  kDiskStream = 1,
  kReplicaStream,
  kLinkStream,
  kReorderStream,
  kTornStream,
};

constexpr Duration kReorderDelayMax = 20ms;

// There is no connection to oneself.
std::int64_t ConnectionsWritten(PeerId self, const StepOutput& output) {
  std::vector<PeerId> peers;
  for (const Output& one : output.outputs) {
    const auto* send = std::get_if<SendFrame>(&one);
    if (send != nullptr && send->to != self) peers.push_back(send->to);
  }
  std::sort(peers.begin(), peers.end());
  return std::unique(peers.begin(), peers.end()) - peers.begin();
}

bool Same(const Fault& a, const Fault& b) {
  return std::tie(a.kind, a.replicas, a.amount, a.start, a.duration) ==
         std::tie(b.kind, b.replicas, b.amount, b.start, b.duration);
}

}  // namespace

Simulator::Simulator(SimOptions options) : options_(std::move(options)) {
  assert(options_.replicas >= 1 && options_.make_backend);
  nodes_.resize(static_cast<std::size_t>(options_.replicas));
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].disk = std::make_unique<SimDisk>(options_.profile.disk,
                                               RandomStream(options_.seed, i, kDiskStream),
                                               RandomStream(options_.seed, i, kTornStream));
  }
  links_.resize(nodes_.size());
  for (auto& row : links_) row.resize(nodes_.size());
  Share();
}

Simulator::~Simulator() = default;

std::size_t Simulator::IndexOf(PeerId id) const {
  // A replica may address anybody, by mistake or not: only replicas' and clients' ids lead
  // anywhere.
  const auto replicas = static_cast<std::size_t>(options_.replicas);
  if (id >= kFirstClient) return replicas + static_cast<std::size_t>(id - kFirstClient);
  return id >= 0 && id < options_.replicas ? static_cast<std::size_t>(id) : nodes_.size();
}

PeerId Simulator::IdOf(std::size_t index) const {
  const auto id = static_cast<PeerId>(index);
  return IsReplica(index) ? id : kFirstClient + id - options_.replicas;
}

bool Simulator::IsReplica(std::size_t index) const {
  return index < static_cast<std::size_t>(options_.replicas);
}

// ---- actors ----

void Simulator::Start() {
  for (std::size_t i = 0; i < static_cast<std::size_t>(options_.replicas); ++i) Boot(i);
}

PeerId Simulator::AddClient(OnFrame on_frame) {
  nodes_.emplace_back();
  nodes_.back().on_frame = std::move(on_frame);
  for (auto& row : links_) row.resize(nodes_.size());
  links_.emplace_back(nodes_.size());
  return IdOf(nodes_.size() - 1);
}

void Simulator::ClientSend(PeerId client, PeerId replica, Bytes frame) {
  Enqueue(IndexOf(client), IndexOf(replica), 0, std::move(frame));
}

void Simulator::At(Time when, std::function<void()> action) {
  assert(when >= now_);
  Push(when, EventKind::kCall, 0, 0).call = std::move(action);
}

void Simulator::Boot(std::size_t index) {
  Node& node = nodes_[index];
  ReplicaConfig config;
  config.self = IdOf(index);
  config.replicas = options_.replicas;
  config.probes = options_.probes;
  RandomStream stream(options_.seed, index, kReplicaStream);
  for (std::uint64_t i = 0; i < node.incarnations; ++i) stream.Next();
  config.random_seed = stream.Next();
  ++node.incarnations;
  node.backend = options_.make_backend(config);
  ScheduleStep(index);
}

void Simulator::Crash(PeerId replica, const std::string& why) {
  if (IsUp(replica)) Kill(IndexOf(replica), why);
}

void Simulator::Kill(std::size_t index, const std::string& why) {
  Node& node = nodes_[index];
  // Before the epoch changes: should one of its tasks admit the other, that is void with the rest.
  LeaveCore({index, Task::kStep});
  LeaveCore({index, Task::kBatch});
  LeaveDevice(index);
  ++node.epoch;
  node.backend.reset();
  node.step_scheduled = node.busy = node.wake_due = node.batch_under_way = false;
  node.work = {};
  node.wake_at = kNever;
  node.last_step = {};
  node.leaving.clear();
  node.completions.clear();
  node.disk->Crash();
  BreakConnections(index);
  Tell("replica " + std::to_string(index) + " dies", why);
  for (Observer* observer : observers_) observer->OnDeath(IdOf(index), now_, why);
}

void Simulator::Die(std::size_t index, const std::string& why) {
  if (first_death_.empty()) first_death_ = "replica " + std::to_string(index) + " died: " + why;
  Kill(index, why);
}

void Simulator::BreakConnections(std::size_t index) {
  Node& node = nodes_[index];
  node.inbox.clear();
  node.inbox_frames = node.inbox_bytes = node.next_connection = 0;
  for (std::size_t other = 0; other < nodes_.size(); ++other) {
    Link& in = LinkBetween(other, index);
    ++in.epoch;
    for (const HeldFrame& held : in.held) TellFrame(FrameStage::kLost, other, index, held.bytes);
    in.held.clear();
    in.held_bytes = in.in_flight_bytes = 0;
    // What it had put on the wire still arrives; what it held is gone.
    Link& out = LinkBetween(index, other);
    for (const HeldFrame& held : out.held) TellFrame(FrameStage::kLost, index, other, held.bytes);
    out.held.clear();
    out.held_bytes = 0;
  }
}

void Simulator::Restart(PeerId replica) {
  if (IsUp(replica)) return;
  Boot(IndexOf(replica));
  Tell("replica " + std::to_string(replica) + " restarts");
  for (Observer* observer : observers_) observer->OnRestart(replica, now_);
}

bool Simulator::IsUp(PeerId replica) const { return nodes_[IndexOf(replica)].backend != nullptr; }

// ---- faults ----

void Simulator::Schedule(const FaultPlan& plan) {
  for (const Fault& fault : plan) {
    At(std::max(fault.start, now_), [this, fault] { Begin(fault); });
    if (fault.end() < kNever) At(std::max(fault.end(), now_), [this, fault] { End(fault); });
  }
}

void Simulator::Begin(const Fault& fault) {
  Tell("begins: " + fault.Describe());
  for (Observer* observer : observers_) observer->OnFaultBegins(now_, fault);
  if (fault.kind == Fault::Kind::kCrash) {
    for (PeerId replica : fault.replicas) Crash(replica);
    return;
  }
  active_faults_.push_back(fault);
  RecomputeFaults();
}

void Simulator::End(const Fault& fault) {
  Tell("ends: " + fault.Describe());
  for (Observer* observer : observers_) observer->OnFaultEnds(now_, fault);
  if (fault.kind == Fault::Kind::kCrash) {
    for (PeerId replica : fault.replicas) Restart(replica);
    return;
  }
  const auto found = std::find_if(active_faults_.begin(), active_faults_.end(),
                                  [&](const Fault& active) { return Same(active, fault); });
  if (found != active_faults_.end()) active_faults_.erase(found);
  RecomputeFaults();
}

void Simulator::HealAll() {
  Tell("everything heals");
  for (const Fault& fault : active_faults_) {
    for (Observer* observer : observers_) observer->OnFaultEnds(now_, fault);
  }
  active_faults_.clear();
  RecomputeFaults();
  for (PeerId replica = 0; replica < options_.replicas; ++replica) Restart(replica);
}

void Simulator::RecomputeFaults() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    node.faults.clear();
    node.cpu_percent = 100;
    node.disk_bytes_per_second = 0;
    node.extra_delay = Duration::zero();
    node.partition_side = 0;
    std::uint64_t number = 0;
    for (const Fault& fault : active_faults_) {
      ++number;
      const bool hit = IsReplica(i) && std::find(fault.replicas.begin(), fault.replicas.end(),
                                                 IdOf(i)) != fault.replicas.end();
      if (!hit) continue;
      if (fault.kind == Fault::Kind::kCpuSlow) {
        node.cpu_percent = std::min(node.cpu_percent, static_cast<int>(fault.amount));
      } else if (fault.kind == Fault::Kind::kDiskSlow) {
        const auto rate = node.disk_bytes_per_second;
        node.disk_bytes_per_second = rate == 0 ? fault.amount : std::min(rate, fault.amount);
      } else if (fault.kind == Fault::Kind::kNetSlow) {
        node.extra_delay = std::max(node.extra_delay, Duration(fault.amount));
      } else if (fault.kind == Fault::Kind::kPartition) {
        node.partition_side = RandomStream::Mix(node.partition_side + number);
      } else {
        node.faults.push_back(fault);
      }
    }
  }
}

bool Simulator::FaultHits(const Fault& fault, std::size_t from, std::size_t to,
                          std::uint64_t number) const {
  const std::uint64_t start = RandomStream::Mix(static_cast<std::uint64_t>(fault.start.count()));
  const std::uint64_t fault_key = RandomStream::Mix(start + static_cast<std::uint64_t>(fault.kind));
  RandomStream stream(options_.seed ^ fault_key, from << 32 | to, number);
  return stream.Below(1000) < static_cast<std::uint64_t>(fault.amount);
}

void Simulator::Tell(const std::string& what, const std::string& words) {
  trace_.AddWorld(now_, what);
  const std::string told = words.empty() ? what : what + ": " + words;
  for (Observer* observer : observers_) observer->OnWorld(now_, told);
}

void Simulator::TellFrame(FrameStage stage, std::size_t from, std::size_t to, const Bytes& bytes) {
  for (Observer* observer : observers_) {
    observer->OnFrame(stage, IdOf(from), IdOf(to), now_, bytes);
  }
}

// ---- the heap ----

namespace {
constexpr auto kLater = [](const auto& a, const auto& b) {
  return a.when != b.when ? a.when > b.when : a.sequence > b.sequence;
};
}  // namespace

Simulator::SimEvent& Simulator::Push(Time when, EventKind kind, std::size_t node,
                                     std::uint64_t epoch) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  heap_.push_back({when, ++last_sequence_, slot});
  std::push_heap(heap_.begin(), heap_.end(), kLater);
  SimEvent& event = slots_[slot];
  event.kind = kind;
  event.node = static_cast<std::int32_t>(node);
  event.epoch = epoch;
  return event;
}

bool Simulator::StepUntil(Time limit) {
  if (heap_.empty() || heap_.front().when > limit) {
    now_ = std::max(now_, limit);
    return false;
  }
  std::pop_heap(heap_.begin(), heap_.end(), kLater);
  const HeapEntry entry = heap_.back();
  heap_.pop_back();
  SimEvent event = std::move(slots_[entry.slot]);
  free_slots_.push_back(entry.slot);
  now_ = entry.when;
  ++events_;
  Handle(event, entry.when);
  return true;
}

void Simulator::RunUntil(Time limit) {
  assert(limit >= now_);
  while (StepUntil(limit)) {
  }
}

void Simulator::Handle(SimEvent& event, Time when) {
  const auto index = static_cast<std::size_t>(event.node);
  if (event.kind == EventKind::kCall) {
    event.call();
    return;
  }
  if (event.kind == EventKind::kArrive) {
    Arrive(event);
    return;
  }
  Node& node = nodes_[index];
  if (event.epoch != node.epoch) return;  // it died in the meantime
  switch (event.kind) {
    case EventKind::kStep:
      BeginStep(index);
      break;
    case EventKind::kStepEnd:
      if (IsDone({index, Task::kStep}, when)) EndStep(index);
      break;
    case EventKind::kWake:
      if (node.wake_at != when) break;  // replaced by another wish
      node.wake_at = kNever;
      node.wake_due = true;
      ScheduleStep(index);
      break;
    case EventKind::kBatch:
      BatchOnCore(index);
      break;
    case EventKind::kBatchPart:
      if (IsDone({index, Task::kBatch}, when)) BatchOffCore(index);
      break;
    case EventKind::kDeviceDone:
      LeaveDevice(index);
      --node.batch_waits;
      BatchToCore(index);
      break;
    case EventKind::kArrive:
    case EventKind::kCall:
      break;
  }
}

// ---- what replicas share ----

void Simulator::Share() {
  const auto places = static_cast<std::size_t>(options_.profile.disk.parallel_batches);
  const auto group = [this](const std::vector<std::vector<PeerId>>& groups,
                            std::size_t Node::* number) {
    std::size_t count = 0;
    for (Node& node : nodes_) node.*number = count++;
    for (const auto& replicas : groups) {
      if (replicas.size() < 2) continue;  // it shares with nobody
      for (const PeerId replica : replicas) {
        assert(IndexOf(replica) < nodes_.size() && "a group is of replicas");
        assert(NodeOf(replica).*number < nodes_.size() && "a replica is in one group");
        NodeOf(replica).*number = count;
      }
      ++count;
    }
    return count;
  };
  cores_.resize(group(options_.sharing.cpu_groups, &Node::core));
  devices_.assign(group(options_.sharing.disk_groups, &Node::device), Device(places));
}

void Simulator::EnterCore(const Task& task) {
  Core& core = cores_[nodes_[task.replica].core];
  const auto interrupted = core.threads.running();
  if (!core.threads.Enter(task.thread(), now_)) return;
  if (interrupted) {
    const Task other = Task::Of(*interrupted);
    nodes_[other.replica].work[other.kind].ends = kNever;
  }
  TurnTo(core);
}

// Its next thread begins, or resumes what it was interrupted in.
void Simulator::TurnTo(Core& core) {
  const CpuModel& cpu = options_.profile.cpu;
  const FairCore::Thread thread = *core.threads.running();
  const Task task = Task::Of(thread);
  Time begins = now_;
  if (core.idle_since < now_) begins += cpu.wake;
  if (core.last && core.last != thread) begins += cpu.per_switch;
  core.last = thread;
  core.idle_since = kNever;
  const Duration left = core.threads.left(thread);
  if (left > Duration::zero()) {
    Run(task, begins, left);
  } else {
    const EventKind begin = task.kind == Task::kStep ? EventKind::kStep : EventKind::kBatch;
    Push(begins, begin, task.replica, nodes_[task.replica].epoch);
  }
}

// The task needs so much of its core from now on; on a slow processor it lasts longer.
void Simulator::Occupy(const Task& task, Duration cost) {
  Node& node = nodes_[task.replica];
  const Duration takes = cost * 100 / node.cpu_percent;
  const Duration on_core = Shared(node.core) ? cost : takes;
  node.work[task.kind].lasts = takes - on_core;
  Run(task, now_, on_core);
}

void Simulator::Run(const Task& task, Time from, Duration work) {
  cores_[nodes_[task.replica].core].threads.Begin(from, work);
  EndAt(task, from + work);
}

void Simulator::EndAt(const Task& task, Time when) {
  Node& node = nodes_[task.replica];
  node.work[task.kind].ends = when;
  const EventKind end = task.kind == Task::kStep ? EventKind::kStepEnd : EventKind::kBatchPart;
  Push(when, end, task.replica, node.epoch);
}

// Whether the work ends now that was to end at `when`: it may have been interrupted since.
bool Simulator::IsDone(const Task& task, Time when) {
  Work& work = nodes_[task.replica].work[task.kind];
  if (work.ends != when) return false;
  work.ends = kNever;
  const Duration lasts = std::exchange(work.lasts, Duration::zero());
  if (lasts == Duration::zero()) return true;
  LeaveCore(task);
  EndAt(task, when + lasts);
  return false;
}

void Simulator::LeaveCore(const Task& task) {
  Core& core = cores_[nodes_[task.replica].core];
  const bool turns = core.threads.Leave(task.thread(), now_);
  if (!core.threads.running()) core.idle_since = std::min(core.idle_since, now_);
  if (turns) TurnTo(core);
}

void Simulator::EnterDevice(std::size_t index) {
  const Node& node = nodes_[index];
  if (devices_[node.device].Enter(index, /*alone=*/node.batch_time.names)) Transfer(index);
}

void Simulator::LeaveDevice(std::size_t index) {
  for (const std::size_t next : devices_[nodes_[index].device].Leave(index)) Transfer(next);
}

// ---- processor ----

void Simulator::ScheduleStep(std::size_t index) {
  Node& node = nodes_[index];
  if (node.step_scheduled || node.busy) return;
  node.step_scheduled = true;
  EnterCore({index, Task::kStep});
}

StepInput Simulator::CollectInput(std::size_t index) {
  Node& node = nodes_[index];
  StepInput input;
  input.now = now_;
  input.last_cost = node.last_step.cost;
  input.last_took = node.last_step.took;
  input.completions = std::exchange(node.completions, {});
  node.bursts_read = 0;
  ReadConnections(index, input);
  input.held_bytes.reserve(static_cast<std::size_t>(options_.replicas));
  for (std::size_t to = 0; IsReplica(to); ++to) {
    input.held_bytes.push_back(LinkBetween(index, to).held_bytes);
  }
  return input;
}

void Simulator::ReadConnections(std::size_t index, StepInput& input) {
  Node& node = nodes_[index];
  const CpuModel& cpu = options_.profile.cpu;
  const std::size_t connections = node.inbox.size();
  std::size_t from = node.next_connection;
  for (std::size_t i = 0; i < connections && input.frames.size() < cpu.frames_per_step_max; ++i) {
    from = (node.next_connection + i) % connections;
    for (std::size_t taken = 0;
         taken < cpu.frames_per_connection_max && input.frames.size() < cpu.frames_per_step_max &&
         !node.inbox[from].empty();
         ++taken) {
      ReadFrame(index, from, input);
    }
  }
  if (connections > 0) node.next_connection = (from + 1) % connections;
}

void Simulator::ReadFrame(std::size_t index, std::size_t from, StepInput& input) {
  Node& node = nodes_[index];
  Unread unread = std::move(node.inbox[from].front());
  node.inbox[from].pop_front();
  --node.inbox_frames;
  node.inbox_bytes -= unread.bytes->size();
  Link& link = LinkBetween(from, index);
  if (unread.link_epoch == link.epoch) link.in_flight_bytes -= unread.bytes->size();
  if (from != index && link.latest_read != unread.arrived) ++node.bursts_read;
  link.latest_read = unread.arrived;
  input.frames.push_back({IdOf(from), std::move(unread.bytes)});
  if (!link.held.empty()) Pump(from, index);  // reading opens the window
}

void Simulator::BeginStep(std::size_t index) {
  Node& node = nodes_[index];
  node.step_scheduled = false;
  node.wake_due = false;
  const std::size_t memory = MemoryOf(index);
  const auto limit = options_.profile.memory.limit_bytes;
  if (memory > limit * static_cast<std::size_t>(options_.profile.memory.kill_factor)) {
    Die(index, "out of memory: it held " + std::to_string(memory) + " bytes (unsent frames, " +
                   "unread frames and unfinished disk writes)");
    return;
  }
  const StepInput input = CollectInput(index);
  trace_.Add(IdOf(index), input);
  StepOutput output = node.backend->Step(input);
  trace_.Add(IdOf(index), now_, output);
  const std::uint64_t epoch = node.epoch;
  for (Observer* observer : observers_) observer->OnStep(IdOf(index), input, output);
  if (epoch != node.epoch) return;  // an observer crashed it
  if (!output.death.empty()) {
    Die(index, output.death);
    return;
  }
  node.busy = true;
  const Duration cost = CostOf(index, input, output, memory);
  node.last_step = {now_, cost, Duration::zero()};
  node.leaving = std::move(output.outputs);
  Occupy({index, Task::kStep}, cost);
}

Duration Simulator::CostOf(std::size_t index, const StepInput& input, const StepOutput& output,
                           std::size_t memory) const {
  const CpuModel& cpu = options_.profile.cpu;
  Duration cost = cpu.per_step + cpu.per_burst * nodes_[index].bursts_read +
                  cpu.per_write * ConnectionsWritten(IdOf(index), output);
  std::int64_t bytes = 0;
  const auto charge = [&](PeerId peer, const Bytes& frame) {
    cost += peer < kFirstClient ? cpu.per_frame : cpu.per_client_frame;
    bytes += static_cast<std::int64_t>(frame->size());
  };
  for (const FrameArrival& frame : input.frames) charge(frame.from, frame.bytes);
  cost += cpu.per_io * static_cast<std::int64_t>(input.completions.size());
  for (const Output& one : output.outputs) {
    if (const auto* send = std::get_if<SendFrame>(&one)) charge(send->to, send->bytes);
    if (const auto* io = std::get_if<IoRequest>(&one)) {
      const auto written = io->data ? static_cast<std::int64_t>(io->data->size()) : 0;
      cost += cpu.per_io + written * cpu.per_io_kib / 1024;
    }
    if (std::holds_alternative<Observation>(one)) cost += cpu.per_observation;
  }
  cost += bytes * cpu.per_kib / 1024;
  const auto limit = static_cast<std::int64_t>(options_.profile.memory.limit_bytes);
  const auto excess = static_cast<std::int64_t>(memory) - limit;
  if (excess > 0) cost += cost * options_.profile.memory.paging_factor * excess / limit;
  return cost;
}

void Simulator::EndStep(std::size_t index) {
  Node& node = nodes_[index];
  const std::uint64_t epoch = node.epoch;
  node.busy = false;
  node.last_step.took = now_ - node.last_step.began;
  ApplyOutputs(index);
  if (epoch != node.epoch) return;  // an observer crashed it
  LeaveCore({index, Task::kStep});
  if (node.inbox_frames > 0 || !node.completions.empty() || node.wake_due) ScheduleStep(index);
}

void Simulator::ApplyOutputs(std::size_t index) {
  Node& node = nodes_[index];
  std::vector<Output> outputs = std::exchange(node.leaving, {});
  const std::uint64_t epoch = node.epoch;
  for (Observer* observer : observers_) observer->OnOutputsLeave(IdOf(index), now_, outputs);
  if (epoch != node.epoch) return;  // an observer crashed it
  for (Output& output : outputs) {
    if (auto* send = std::get_if<SendFrame>(&output)) {
      Enqueue(index, IndexOf(send->to), send->id, std::move(send->bytes));
    } else if (const auto* release = std::get_if<ReleaseFrame>(&output)) {
      Drop(index, IndexOf(release->to), release->id);
    } else if (auto* io = std::get_if<IoRequest>(&output)) {
      node.disk->Submit(std::move(*io));
    } else if (const auto* wake = std::get_if<SetWake>(&output)) {
      SetWakeTimer(index, wake->when);
    }
  }
  StartDisk(index);
}

void Simulator::SetWakeTimer(std::size_t index, Time when) {
  Node& node = nodes_[index];
  node.wake_at = std::max(when, now_);
  Push(node.wake_at, EventKind::kWake, index, node.epoch);
}

std::size_t Simulator::MemoryOf(std::size_t index) const {
  const Node& node = nodes_[index];
  std::size_t bytes = node.inbox_bytes + node.disk->queued_bytes();
  for (const Link& link : links_[index]) bytes += link.held_bytes;
  return bytes;
}

// ---- disk ----
//
// A batch takes turns: a part on the core, a wait for the device, a part on the core, and so on.

void Simulator::StartDisk(std::size_t index) {
  Node& node = nodes_[index];
  if (node.batch_under_way || !node.disk->has_work()) return;
  node.batch_under_way = true;
  BatchToCore(index);
}

void Simulator::BatchToCore(std::size_t index) {
  if (options_.profile.cpu.per_batch > Duration::zero()) {
    EnterCore({index, Task::kBatch});
  } else {
    BatchOnCore(index);
  }
}

void Simulator::BatchOnCore(std::size_t index) {
  Node& node = nodes_[index];
  const int waits = options_.profile.disk.waits_per_batch;
  if (node.disk->idle()) {
    node.batch_time = node.disk->StartBatch(node.disk_bytes_per_second);
    node.batch_waits = waits;
  }
  const CpuModel& cpu = options_.profile.cpu;
  Duration whole = cpu.per_batch;
  if (node.batch_time.grows) whole += cpu.per_growth;
  if (node.batch_time.names) whole += cpu.per_directory;
  const Duration part = whole / (waits + 1);
  if (part > Duration::zero()) {
    Occupy({index, Task::kBatch}, part);
  } else {
    BatchOffCore(index);
  }
}

void Simulator::BatchOffCore(std::size_t index) {
  LeaveCore({index, Task::kBatch});
  if (nodes_[index].batch_waits == 0) {
    FinishBatch(index);
  } else {
    EnterDevice(index);
  }
}

// The device has turned to the replica's batch.
void Simulator::Transfer(std::size_t index) {
  const Node& node = nodes_[index];
  const int waits = options_.profile.disk.waits_per_batch;
  const Duration total = node.batch_time.total / waits;
  const Duration device = node.batch_time.device / waits;
  if (device < total && Shared(node.device)) {
    At(now_ + device, [this, index, epoch = node.epoch] {
      if (epoch == nodes_[index].epoch) LeaveDevice(index);
    });
  }
  Push(now_ + total, EventKind::kDeviceDone, index, node.epoch);
}

void Simulator::FinishBatch(std::size_t index) {
  Node& node = nodes_[index];
  const std::uint64_t epoch = node.epoch;
  auto completions = node.disk->FinishBatch();
  node.batch_under_way = false;
  std::move(completions.begin(), completions.end(), std::back_inserter(node.completions));
  for (Observer* observer : observers_) observer->OnDisk(IdOf(index), now_, *node.disk);
  if (epoch != node.epoch) return;  // an observer crashed it
  StartDisk(index);
  ScheduleStep(index);
}

// ---- network ----

void Simulator::Enqueue(std::size_t from, std::size_t to, FrameId id, Bytes bytes) {
  if (to >= nodes_.size()) return;  // an address nobody has
  TellFrame(FrameStage::kQueued, from, to, bytes);
  if (from == to) {  // to oneself: no wire
    ScheduleArrival(from, to, now_, bytes);
    return;
  }
  Link& link = LinkBetween(from, to);
  link.held_bytes += bytes->size();
  link.held.push_back({id, std::move(bytes)});
  Pump(from, to);
  link.peak_held_bytes = std::max(link.peak_held_bytes, link.held_bytes);
}

void Simulator::Drop(std::size_t from, std::size_t to, FrameId id) {
  if (to >= nodes_.size()) return;
  Link& link = LinkBetween(from, to);
  const auto found =
      std::lower_bound(link.held.begin(), link.held.end(), id,
                       [](const HeldFrame& f, FrameId wanted) { return f.id < wanted; });
  if (found == link.held.end() || found->id != id) return;
  TellFrame(FrameStage::kReleased, from, to, found->bytes);
  link.held_bytes -= found->bytes->size();
  link.held.erase(found);
}

void Simulator::Pump(std::size_t from, std::size_t to) {
  Link& link = LinkBetween(from, to);
  const bool windowed = IsReplica(from) && IsReplica(to);
  const bool refused = IsReplica(to) && nodes_[to].backend == nullptr;
  while (!link.held.empty()) {
    const std::size_t size = link.held.front().bytes->size();
    const bool fits = !windowed || link.in_flight_bytes == 0 ||
                      link.in_flight_bytes + size <= options_.profile.net.window_bytes;
    if (!fits && !refused) return;
    const Bytes bytes = std::move(link.held.front().bytes);
    link.held.pop_front();
    link.held_bytes -= size;
    if (refused) {
      TellFrame(FrameStage::kLost, from, to, bytes);
    } else {
      Transmit(from, to, bytes);
    }
  }
}

void Simulator::Transmit(std::size_t from, std::size_t to, const Bytes& bytes) {
  const NetModel& net = options_.profile.net;
  Link& link = LinkBetween(from, to);
  Node& sender = nodes_[from];
  const std::uint64_t number = ++link.frames;
  if (link.jitter == nullptr) {
    link.jitter = std::make_unique<RandomStream>(options_.seed, from << 32 | to, kLinkStream);
  }
  const Duration latency = net.latency_jitter.Apply(net.latency, *link.jitter);
  const auto size = static_cast<std::int64_t>(bytes->size());
  sender.nic_free =
      std::max(sender.nic_free, now_) + Duration(size * 1'000'000'000 / net.bytes_per_second);
  Time arrival = sender.nic_free + latency + sender.extra_delay;
  arrival = std::max(arrival, link.last_arrival);
  // Every fault has its say before any takes effect, so that their order in a plan does not matter.
  bool lost = false;
  bool twice = false;
  bool late = false;
  for (const Fault& fault : sender.faults) {
    if (!IsReplica(to) || !FaultHits(fault, from, to, number)) continue;
    lost = lost || fault.kind == Fault::Kind::kDrop;
    twice = twice || fault.kind == Fault::Kind::kDuplicate;
    late = late || fault.kind == Fault::Kind::kReorder;
  }
  if (lost) {
    TellFrame(FrameStage::kLost, from, to, bytes);
    return;
  }
  if (late) {  // later frames may overtake it: last_arrival stays
    RandomStream stream(options_.seed ^ RandomStream::Mix(kReorderStream), from << 32 | to, number);
    arrival += Duration(stream.Below(static_cast<std::uint64_t>(kReorderDelayMax.count())));
  } else {
    link.last_arrival = arrival;
  }
  ScheduleArrival(from, to, arrival, bytes);
  if (twice) ScheduleArrival(from, to, arrival, bytes);
}

void Simulator::ScheduleArrival(std::size_t from, std::size_t to, Time when, const Bytes& bytes) {
  TellFrame(FrameStage::kOnWire, from, to, bytes);
  Link& link = LinkBetween(from, to);
  link.in_flight_bytes += bytes->size();
  SimEvent& event = Push(when, EventKind::kArrive, to, link.epoch);
  event.from = static_cast<std::int32_t>(from);
  event.bytes = bytes;
}

void Simulator::Arrive(SimEvent& event) {
  const auto to = static_cast<std::size_t>(event.node);
  const auto from = static_cast<std::size_t>(event.from);
  Link& link = LinkBetween(from, to);
  if (event.epoch != link.epoch) {  // the connection broke
    TellFrame(FrameStage::kLost, from, to, event.bytes);
    return;
  }
  Node& node = nodes_[to];
  const bool cut =
      IsReplica(from) && IsReplica(to) && nodes_[from].partition_side != node.partition_side;
  const bool refused = IsReplica(to) && node.backend == nullptr;
  TellFrame(cut || refused ? FrameStage::kLost : FrameStage::kArrived, from, to, event.bytes);
  if (cut || refused || !IsReplica(to)) {
    link.in_flight_bytes -= event.bytes->size();
    if (!link.held.empty()) Pump(from, to);
    if (!cut && !refused) node.on_frame(IdOf(from), event.bytes);
    return;
  }
  node.inbox_bytes += event.bytes->size();
  ++node.inbox_frames;
  if (node.inbox.size() < nodes_.size()) node.inbox.resize(nodes_.size());
  node.inbox[from].push_back({event.epoch, now_, std::move(event.bytes)});
  ScheduleStep(to);
}

// ---- what there is to see ----

const SimDisk& Simulator::disk(PeerId replica) const { return *nodes_[IndexOf(replica)].disk; }

std::size_t Simulator::HeldBytes(PeerId from, PeerId to) const {
  return links_[IndexOf(from)][IndexOf(to)].held_bytes;
}

std::size_t Simulator::PeakHeldBytes(PeerId from) const {
  std::size_t peak = 0;
  for (std::size_t to = 0; IsReplica(to); ++to) {
    peak = std::max(peak, links_[IndexOf(from)][to].peak_held_bytes);
  }
  return peak;
}

void Simulator::ResetPeaks() {
  for (auto& row : links_) {
    for (Link& link : row) link.peak_held_bytes = link.held_bytes;
  }
}

std::string Simulator::DumpCoroutines(PeerId replica) {
  assert(IsUp(replica));
  return NodeOf(replica).backend->DumpCoroutines();
}

std::string Simulator::Report(PeerId replica, const std::string& probe) {
  assert(IsUp(replica));
  return NodeOf(replica).backend->Report(probe);
}

}  // namespace depfast::sim

// Simulator: replicas, clients, a network, disks and processors in virtual time.
//
// One event heap, ordered by (time, sequence number): events of the same instant happen in the
// order in which they were scheduled, so a run is a function of its options alone. The simulator is
// also the kit's measuring instrument: what a replica costs is charged here, from what crosses its
// Host, and not from what it says.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "depfast/host/probe.h"
#include "depfast/host/random.h"
#include "sim/disk.h"
#include "sim/fair_core.h"
#include "sim/fault.h"
#include "sim/profile.h"
#include "sim/step.h"
#include "sim/trace.h"
#include "sim/waiting_line.h"

namespace depfast::sim {

// Which replicas share a machine. Each list is of replicas that share one core, or one disk
// device; a replica in no list has its own. Files are never shared.
//
// On a shared core steps and disk batches take turns, and interrupt each other: see fair_core.h.
// A slow processor (CpuSlow) is that of one replica, like a bandwidth
// limit: its steps take longer, and the core is the others' in the time that the fault adds. A slow
// disk (DiskSlow), likewise, delays its replica's batches and not the device.
struct Sharing {
  std::vector<std::vector<PeerId>> cpu_groups;
  std::vector<std::vector<PeerId>> disk_groups;
};

// Requires: `sharing` names replicas, each at most once in its cpu_groups and in its disk_groups.
struct SimOptions {
  int replicas = 3;
  std::uint64_t seed = 1;
  Profile profile;
  BackendFactory make_backend;
  std::vector<std::string> probes;  // that each replica makes, see ReplicaConfig
  Sharing sharing = {};
};

// What becomes of a frame on its way.
enum class FrameStage : std::uint8_t {
  kQueued,    // given to the connection, which holds it
  kReleased,  // taken back by its sender before it was on the wire
  kOnWire,    // under way; a second time if the network duplicates it
  kArrived,   // at the receiver, which may read it later
  kLost,      // dropped by a fault, or sent to or from somebody who is down or cut off
};

// Hears of everything that checkers and reports need, at the moment it happens. May crash and
// restart replicas, the one it hears of included: then that replica's outputs never leave.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void OnStep(PeerId replica, const StepInput& input, const StepOutput& output) {
    (void)replica, (void)input, (void)output;
  }
  // The outputs of a step have left: messages sent, writes submitted.
  virtual void OnOutputsLeave(PeerId replica, Time now, const std::vector<Output>& outputs) {
    (void)replica, (void)now, (void)outputs;
  }
  virtual void OnDisk(PeerId replica, Time now, const SimDisk& disk) {
    (void)replica, (void)now, (void)disk;
  }
  // Crashes, restarts, faults that begin and end, a replica that died by itself.
  virtual void OnWorld(Time now, const std::string& what) { (void)now, (void)what; }
  virtual void OnRestart(PeerId replica, Time now) { (void)replica, (void)now; }
  // The four below only look: they must not change the world.
  virtual void OnFrame(FrameStage stage, PeerId from, PeerId to, Time now, const Bytes& frame) {
    (void)stage, (void)from, (void)to, (void)now, (void)frame;
  }
  virtual void OnDeath(PeerId replica, Time now, const std::string& why) {
    (void)replica, (void)now, (void)why;
  }
  virtual void OnFaultBegins(Time now, const Fault& fault) { (void)now, (void)fault; }
  virtual void OnFaultEnds(Time now, const Fault& fault) { (void)now, (void)fault; }
};

class Simulator {
 public:
  // Replicas are not running until Start.
  explicit Simulator(SimOptions options);
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  Time now() const { return now_; }
  int replicas() const { return options_.replicas; }
  const SimOptions& options() const { return options_; }

  // --- the world's actors ---

  void Start();

  // A client is outside the model: it computes for free and its connections have no window.
  using OnFrame = std::function<void(PeerId from, const Bytes& frame)>;
  // May be called at any time, also from a client's own callback.
  PeerId AddClient(OnFrame on_frame);
  void ClientSend(PeerId client, PeerId replica, Bytes frame);

  // Calls `action` at `when`. Requires: when >= now().
  void At(Time when, std::function<void()> action);

  // Adds a plan: each fault starts and ends at its time. May be called at any time.
  void Schedule(const FaultPlan& plan);

  // Faults that tests begin and end by hand, now.
  void Begin(const Fault& fault);
  void End(const Fault& fault);
  // Ends everything that is wrong: partitions, slowness, losses; dead replicas restart.
  void HealAll();

  void Crash(PeerId replica, const std::string& why = "crash");
  void Restart(PeerId replica);
  bool IsUp(PeerId replica) const;

  // --- running ---

  // Handles the next event, if it is not later than `limit`. Returns false (and moves the clock to
  // the limit) if there is none.
  bool StepUntil(Time limit);
  // Requires: limit >= now().
  void RunUntil(Time limit);
  void RunFor(Duration duration) { RunUntil(now_ + duration); }

  // --- what there is to see ---

  // Not owned; must outlive the simulator or be removed. Called in order of addition.
  void AddObserver(Observer* observer) { observers_.push_back(observer); }

  Trace& trace() { return trace_; }
  const SimDisk& disk(PeerId replica) const;
  std::uint64_t events() const { return events_; }
  // Bytes that `from` holds for `to`: sent, and not taken by the wire.
  std::size_t HeldBytes(PeerId from, PeerId to) const;
  // The most that a replica has ever held for one peer, since the last ResetPeaks.
  std::size_t PeakHeldBytes(PeerId from) const;
  void ResetPeaks();
  // Empty, or why the first replica died that was not crashed by the test: a verdict.
  const std::string& first_death() const { return first_death_; }
  // Of a replica that is up.
  std::string DumpCoroutines(PeerId replica);
  // See ReplicaBackend::Report. Requires: the replica is up.
  std::string Report(PeerId replica, const std::string& probe);

 private:
  enum class EventKind : std::uint8_t {
    kArrive,
    kStep,
    kStepEnd,
    kWake,
    kBatch,
    kBatchPart,
    kDeviceDone,
    kCall,
  };

  // What is going to happen.
  struct SimEvent {
    EventKind kind = EventKind::kCall;
    std::int32_t node = 0;       // index of the node it happens at
    std::int32_t from = 0;       // kArrive: index of the sender
    std::uint64_t epoch = 0;     // of the node (kArrive: of the link); an older one is void
    Bytes bytes;                 // kArrive
    std::function<void()> call;  // kCall
  };

  // When: what the heap moves about, and therefore small.
  struct HeapEntry {
    Time when;
    std::uint64_t sequence;
    std::uint32_t slot;  // of the SimEvent, in slots_
  };

  // What a core does for a replica: the work of one of its threads.
  struct Task {
    enum Kind : std::uint8_t { kStep, kBatch };
    static constexpr std::size_t kKinds = 2;
    std::size_t replica;
    Kind kind;

    FairCore::Thread thread() const { return replica * kKinds + kind; }
    static Task Of(FairCore::Thread thread) {
      return {thread / kKinds, static_cast<Kind>(thread % kKinds)};
    }
  };

  struct Core {
    FairCore threads;
    std::optional<FairCore::Thread> last;  // the latest that it turned to
    Time idle_since{0};                    // if it is idle
  };

  struct Work {
    Time ends = kNever;  // if it is under way: its core may be taken from it
    Duration lasts{0};   // beyond the time that it needs its core: its processor is slow
  };

  using Device = WaitingLine<std::size_t>;  // of replicas with a batch under way

  struct HeldFrame {
    FrameId id;
    Bytes bytes;
  };

  // One direction of a connection.
  struct Link {
    std::deque<HeldFrame> held;
    std::size_t held_bytes = 0;
    std::size_t peak_held_bytes = 0;
    std::size_t in_flight_bytes = 0;  // on the wire, or unread by the receiver
    Time last_arrival{0};             // frames do not overtake each other
    Time latest_read{-1};             // when what the receiver read last had arrived
    std::uint64_t epoch = 0;          // counts the connection's breaks
    std::uint64_t frames = 0;         // that have gone on the wire: numbers the fault draws
    std::unique_ptr<RandomStream> jitter;
  };

  struct Unread {
    std::uint64_t link_epoch;
    Time arrived;
    Bytes bytes;
  };

  // A replica, or (beyond the replicas) a client.
  struct Node {
    std::unique_ptr<ReplicaBackend> backend;  // null while down
    std::uint64_t epoch = 0;                  // counts crashes: voids what was under way
    std::uint64_t incarnations = 0;
    bool step_scheduled = false;
    bool busy = false;    // a step is under way; its outputs leave at its end
    StepUsage last_step;  // of the step under way, or the one before; `took` once it has ended
    std::vector<Output> leaving;
    std::vector<std::deque<Unread>> inbox;  // by sender's index: one queue per connection
    std::size_t inbox_frames = 0;
    std::size_t inbox_bytes = 0;
    std::size_t next_connection = 0;  // where the next step begins to read
    std::int64_t bursts_read = 0;     // by the step under way
    std::vector<IoCompletion> completions;
    bool wake_due = false;
    Time wake_at = kNever;
    Time nic_free{0};
    std::size_t core = 0;  // in cores_
    std::array<Work, Task::kKinds> work;
    std::size_t device = 0;  // in devices_
    std::unique_ptr<SimDisk> disk;
    bool batch_under_way = false;  // or about to begin
    BatchTime batch_time{};        // of the batch that has begun
    int batch_waits = 0;           // for the device, that it has yet to begin or end
    OnFrame on_frame;              // clients
    // Effects of the faults under way: the strongest of each kind.
    std::vector<Fault> faults;
    int cpu_percent = 100;
    std::int64_t disk_bytes_per_second = 0;  // 0: the model's
    Duration extra_delay{0};
    std::uint64_t partition_side = 0;  // nodes with different sides cannot talk
  };

  Node& NodeOf(PeerId id) { return nodes_[IndexOf(id)]; }
  // nodes_.size() or more for an address that nobody has.
  std::size_t IndexOf(PeerId id) const;
  PeerId IdOf(std::size_t index) const;
  bool IsReplica(std::size_t index) const;
  Link& LinkBetween(std::size_t from, std::size_t to) { return links_[from][to]; }

  // Schedules an event and returns it for the caller to complete. The reference is good until the
  // next Push.
  SimEvent& Push(Time when, EventKind kind, std::size_t node, std::uint64_t epoch);
  void Handle(SimEvent& event, Time when);

  void Share();
  // A core or a device of a group: those that belong to one replica have its number.
  bool Shared(std::size_t number) const { return !IsReplica(number); }
  void EnterCore(const Task& task);
  void TurnTo(Core& core);
  void Occupy(const Task& task, Duration cost);
  void Run(const Task& task, Time from, Duration work);
  void EndAt(const Task& task, Time when);
  bool IsDone(const Task& task, Time when);
  void LeaveCore(const Task& task);
  void EnterDevice(std::size_t index);
  void LeaveDevice(std::size_t index);

  void ScheduleStep(std::size_t index);
  void BeginStep(std::size_t index);
  StepInput CollectInput(std::size_t index);
  void ReadConnections(std::size_t index, StepInput& input);
  void ReadFrame(std::size_t index, std::size_t from, StepInput& input);
  Duration CostOf(std::size_t index, const StepInput& input, const StepOutput& output,
                  std::size_t memory) const;
  void EndStep(std::size_t index);
  void ApplyOutputs(std::size_t index);
  void Enqueue(std::size_t from, std::size_t to, FrameId id, Bytes bytes);
  void Drop(std::size_t from, std::size_t to, FrameId id);
  void Pump(std::size_t from, std::size_t to);
  void Transmit(std::size_t from, std::size_t to, const Bytes& bytes);
  void ScheduleArrival(std::size_t from, std::size_t to, Time when, const Bytes& bytes);
  void Arrive(SimEvent& event);
  void StartDisk(std::size_t index);
  void BatchToCore(std::size_t index);
  void BatchOnCore(std::size_t index);
  void BatchOffCore(std::size_t index);
  void Transfer(std::size_t index);
  void FinishBatch(std::size_t index);
  void SetWakeTimer(std::size_t index, Time when);
  std::size_t MemoryOf(std::size_t index) const;
  void Boot(std::size_t index);
  void BreakConnections(std::size_t index);
  void Kill(std::size_t index, const std::string& why);
  // It died by itself: that is a verdict.
  void Die(std::size_t index, const std::string& why);
  void RecomputeFaults();
  // True for this frame with a probability of `permille`, drawn from nothing but its number: frames
  // of other links and other faults have no say in it.
  bool FaultHits(const Fault& fault, std::size_t from, std::size_t to, std::uint64_t number) const;
  // `words` is for people and no part of the trace hash.
  void Tell(const std::string& what, const std::string& words = "");
  void TellFrame(FrameStage stage, std::size_t from, std::size_t to, const Bytes& bytes);

  SimOptions options_;
  Time now_{0};
  std::uint64_t last_sequence_ = 0;
  std::uint64_t events_ = 0;
  std::vector<HeapEntry> heap_;
  std::vector<SimEvent> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::deque<Node> nodes_;  // a client may be added while another's frame is being handled
  std::vector<std::vector<Link>> links_;  // [from][to], by index
  std::vector<Core> cores_;
  std::vector<Device> devices_;
  std::vector<Fault> active_faults_;
  std::vector<Observer*> observers_;
  Trace trace_;
  std::string first_death_;
};

}  // namespace depfast::sim

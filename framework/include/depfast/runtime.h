// Runtime: one replica's coroutines, events, RPC and storage, on top of a Host.
//
// A host delivers what has arrived (frames, disk completions, the passing of time) and then calls
// Run, which lets coroutines run until every one of them waits. That is a step. Between steps the
// runtime does nothing, so a replica is a deterministic function of what was delivered to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "depfast/event.h"
#include "depfast/host/host.h"
#include "depfast/rpc.h"
#include "depfast/storage.h"
#include "depfast/time.h"

namespace depfast {

class Scheduler;

// Hears of every wait of a replica's coroutines: for recordings. Only looks: it must not touch the
// runtime, so that a replica that is watched does what it does unwatched.
class RuntimeWatcher {
 public:
  // A coroutine is suspended; `name` and `id` are its, and no other coroutine of this runtime has
  // the same id.
  struct Wait {
    PeerId replica = 0;
    std::uint64_t id = 0;
    const char* name = "";
    const Event& event;
  };

  virtual ~RuntimeWatcher() = default;
  // The service has started: its RPC handlers are known.
  virtual void OnStarted(Runtime& runtime) = 0;
  virtual void OnWait(const Wait& wait, Time now) = 0;
  // The wait that OnWait told of last for this coroutine is over.
  virtual void OnWaitEnd(const Wait& wait, Time now, Outcome outcome) = 0;
};

// Which replica it is, and its limits.
struct RuntimeOptions {
  PeerId self = 0;
  int replicas = 1;                      // the replicas' ids are 0 .. replicas - 1
  std::size_t stack_bytes = 256 * 1024;  // per coroutine; pages are used only when touched
  std::uint64_t resumes_per_step_max = 10'000'000;  // a guard against coroutines that spin
  bool wait_statistics = false;                     // see Runtime::WaitStatistics
  RuntimeWatcher* watcher = nullptr;                // null, or it outlives the runtime
};

// One row of the slowness propagation graph's raw data (document 001, section 3.3): how long
// coroutines of one name have been suspended on one kind of event.
struct WaitRow {
  std::string coroutine;
  std::string event;
  int needed = 1;
  int total = 1;
  int peer = -1;  // the one peer waited for; -1 if several or none
  std::uint64_t count = 0;
  Duration total_time{0};
  Duration max_time{0};
};

// Thrown by Runtime::Run when a step does not end: more coroutine resumptions than the limit.
class RunawayError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Runtime {
 public:
  // The host must outlive the runtime.
  Runtime(Host& host, const RuntimeOptions& options);

  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // The runtime whose step is running on this thread. Requires: there is one.
  static Runtime& Current();

  // --- what a replica's code uses ---

  PeerId self() const { return options_.self; }
  int replicas() const { return options_.replicas; }
  // All replicas but this one, ascending.
  const std::vector<PeerId>& peers() const { return peers_; }

  Time Now() const { return host_.Now(); }

  // Starts a coroutine. It runs after the running one waits or ends, in order of creation, and
  // carries the creator's dependency. `name` must outlive the coroutine (a string literal): it is
  // what dumps, warnings and reports call it.
  void Spawn(const char* name, std::function<void()> body);

  // Suspends the running coroutine. Requires: duration >= 0.
  void Sleep(Duration duration);

  // Lets every other runnable coroutine run before the running one goes on.
  void Yield();

  // A number in [low, high], from this replica's own stream. Requires: low <= high.
  std::int64_t RandomBetween(std::int64_t low, std::int64_t high);
  Duration RandomBetween(Duration low, Duration high);

  void Observe(const Observation& observation) { host_.Observe(observation); }
  // Bytes queued for a peer that the wire has not taken yet.
  std::size_t HeldBytes(PeerId peer) { return host_.HeldBytes(peer); }

  // On whose behalf the running coroutine works; none outside a coroutine.
  Dependency dependency() const;
  void set_dependency(const Dependency& dependency);

  Rpc& rpc() { return rpc_; }
  Storage& storage() { return storage_; }
  Scheduler& scheduler() { return *scheduler_; }

  // --- what a host uses ---

  // Runs `body` (outside any coroutine) with this runtime as the current one: for Service::Start.
  void Enter(const std::function<void()>& body);

  void DeliverFrame(PeerId from, std::string_view bytes);
  void DeliverIo(IoCompletion completion);

  // Runs until every coroutine waits, timers due at Now() included, then tells the host when the
  // next timer is due. Throws RunawayError, or what a coroutine let escape.
  void Run();

  // Ends every coroutine: each suspended Wait throws Cancelled, so that the destructors on the
  // coroutines' stacks run. What they still send is the host's to ignore. Called by the destructor
  // at the latest; a host calls it before it destroys the service whose data the stacks refer to.
  void Shutdown();

  // --- for people ---

  // Every suspended coroutine: its name, the event it waits on, since when, and its stack.
  std::string DumpCoroutines();

  // How long was waited for what, longest first. Empty unless options.wait_statistics.
  std::vector<WaitRow> WaitStatistics() const;

 private:
  // Makes this runtime the current one for a scope, also when runtimes nest in one thread.
  class CurrentScope;

  Host& host_;
  RuntimeOptions options_;
  std::vector<PeerId> peers_;
  Time requested_wake_ = kNever;
  Rpc rpc_;
  Storage storage_;
  std::unique_ptr<Scheduler> scheduler_;  // last: coroutines go before what they use
};

}  // namespace depfast

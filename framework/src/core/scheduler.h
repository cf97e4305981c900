// Scheduler: lazy and cooperative, exactly as document 002, section 3.2.2 describes it.
//
// Coroutines whose event is ready wait in a queue, first come first served. They run when the
// running coroutine waits or ends. Expired timeouts are handled only when the queue is empty. Their
// order is that of their deadlines, and for equal deadlines that of registration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/fiber.h"
#include "core/probe_scope.h"
#include "depfast/dependency.h"
#include "depfast/event.h"
#include "depfast/host/hosted_runtime.h"
#include "depfast/host/probe.h"
#include "depfast/time.h"

namespace depfast {

// Thrown by a Wait when the replica stops, so that the coroutine's stack unwinds. Not a
// std::exception: code that handles errors must not take it for one. Do not swallow it.
class Cancelled {};

// A worker that runs one task after another: making and unmaking a stack costs a microsecond and
// two system calls, taking an idle one costs nothing.
class Coroutine {
 public:
  const char* name() const { return name_; }
  const StackBounds& stack() const { return fiber_->stack(); }

 private:
  friend class Scheduler;

  std::unique_ptr<Fiber> fiber_;
  std::uint64_t id_ = 0;  // of the task: in order of creation
  const char* name_ = "";
  std::function<void()> body_;  // empty while idle
  bool in_body_ = false;        // the body has been entered and has not returned
  Dependency dependency_;

  Event* waiting_on_ = nullptr;        // null unless suspended in a Wait
  Time waiting_since_{0};              // the begin of the latest wait
  std::uint64_t wait_number_ = 0;      // counts waits: timers and waiters of earlier ones are stale
  Outcome outcome_ = Outcome::kReady;  // of the latest wait, valid once made ready
  std::string* stack_wanted_ = nullptr;  // dump in progress: write the stack here, then yield again
  int swallowed_cancellations_ = 0;
};

class Scheduler {
 public:
  Scheduler(Runtime& runtime, const RuntimeOptions& options);
  ~Scheduler();

  void Spawn(const char* name, const Dependency& dependency, std::function<void()> body);

  // Suspends the running coroutine until `event` wakes it or the timeout passes. The event must not
  // be decided, and must live until Block returns. Throws Cancelled when the replica stops.
  Outcome Block(Event& event, Duration timeout);

  // Puts the running coroutine at the end of the queue of runnable ones.
  void YieldCurrent();

  // Whether the coroutine has moved on from the wait that `wait` names. Requires: not shut down.
  static bool IsOver(const Event::Waiter& wait);

  // Queues a coroutine that waits on an event, unless that wait is over.
  void Wake(const Event::Waiter& waiter, Outcome outcome);

  using TimerId = std::uint64_t;
  // Calls `callback` (outside any coroutine, it must not wait) at `when`, or after it.
  TimerId AddTimer(Time when, std::function<void()> callback);
  void CancelTimer(TimerId timer);

  // Runs until every coroutine waits and no timer is due.
  void RunUntilIdle(Time now);

  // The earliest deadline still wanted; kNever if there is none.
  Time NextDeadline();

  // Ends every coroutine (see HostedRuntime::Shutdown). Nothing may be spawned afterwards.
  void Shutdown();

  Coroutine* current() const { return current_; }
  Dependency current_dependency() const;
  void set_current_dependency(const Dependency& dependency);

  // Calls `tell` with each probe. Without probes it costs one comparison. On hot paths `tell`
  // should capture by value: a variable captured by reference must live in memory.
  template <typename Tell>
  void ForEachProbe(const Tell& tell) const {
    if (!probes_.empty()) [[unlikely]] {
      TellProbes(tell);
    }
  }
  const Probes& probes() const { return probes_; }
  // It hears of everything from now on, after the other probes, and outlives the scheduler's use.
  void AddProbe(RuntimeProbe* probe) { probes_.push_back(probe); }
  const NoteSink& note_sink() const { return options_.notes; }
  // The running coroutine, for probes.
  RuntimeProbe::Task current_task() const;

  // Calls `visit` with each coroutine that is suspended in a Wait, as a RuntimeProbe::Task, and the
  // event that it waits on. None after Shutdown.
  template <typename Visit>
  void ForEachWait(const Visit& visit) const {
    for (const auto& worker : workers_) {
      if (worker->waiting_on_ != nullptr) visit(TaskOf(*worker), *worker->waiting_on_);
    }
  }

  std::string Dump(Time now);

 private:
  struct Timer {
    Time when;
    std::uint64_t sequence;  // ties are broken by registration order
    Coroutine* coroutine;    // null: a callback, found in callbacks_ under `sequence`
    std::uint64_t wait_number;
  };
  struct Later {
    bool operator()(const Timer& a, const Timer& b) const {
      return std::tie(a.when, a.sequence) > std::tie(b.when, b.sequence);
    }
  };

  template <typename Tell>
  [[gnu::cold, gnu::noinline]] void TellProbes(const Tell& tell) const {
    const ProbeScope scope;
    for (RuntimeProbe* probe : probes_) tell(*probe);
  }

  void PushTimer(const Timer& timer);
  Timer PopTimer();
  bool IsStale(const Timer& timer) const;
  bool FireExpired(Time now);

  Coroutine* TakeIdle();
  void WorkerLoop(Coroutine* self);
  void RunTask(Coroutine* self);
  void Resume(Coroutine* coroutine);
  void Suspend(Coroutine* self);
  void Cancel(Coroutine* coroutine);
  [[noreturn]] void ThrowCancelled(Coroutine* self);
  static RuntimeProbe::Task TaskOf(const Coroutine& coroutine);

  Runtime& runtime_;
  const RuntimeOptions options_;
  Probes probes_;
  bool stopping_ = false;
  Coroutine* current_ = nullptr;
  std::uint64_t last_coroutine_ = 0;
  std::uint64_t last_timer_ = 0;
  std::uint64_t resumes_left_ = 0;  // of this step
  std::exception_ptr escaped_;      // the exception that left a coroutine in this step
  std::deque<Coroutine*> ready_;
  std::vector<Timer> timers_;  // a heap, earliest first; may hold stale entries
  std::unordered_map<TimerId, std::function<void()>> callbacks_;
  std::vector<Coroutine*> idle_;
  std::vector<std::unique_ptr<Coroutine>> workers_;
};

}  // namespace depfast

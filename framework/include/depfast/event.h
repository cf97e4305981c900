// Event: the one way a coroutine waits.
//
// A replica waits for slow things through Events only, so every wait can be named, counted and
// dumped (document 001, section 3; document 002, section 3.1).
//
// Scheduling is lazy and cooperative (document 002, section 3.2.2): a ready event only marks its
// waiters as runnable. No other coroutine runs until the running one waits or ends, so the code
// between two waits sees no change by others.
//
// Events are shared: a reply may arrive long after its caller has stopped waiting. Create them with
// std::make_shared. All events of a replica belong to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "depfast/time.h"
#include "depfast/wait_description.h"

namespace depfast {

class Coroutine;
class Runtime;

// The end of a wait.
enum class Outcome : std::uint8_t {
  kReady = 0,     // the event has happened
  kFailed = 1,    // it can no longer happen (an error, too many rejects)
  kTimedOut = 2,  // neither, until the deadline
};

const char* ToString(Outcome outcome);

class Event : public std::enable_shared_from_this<Event> {
 public:
  Event();
  virtual ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // Suspends the running coroutine until this event is ready or has failed, for at most `timeout`.
  // Returns at once, without letting anything else run, if that is already so. A wait of zero for
  // an undecided event lets the runnable coroutines run, then times out unless they decide it. Any
  // number of coroutines may wait on one event. The event lives until the wait has ended, even if
  // every other holder lets go of it meanwhile.
  // Requires: called from a coroutine of the runtime the event was made in; timeout >= 0.
  Outcome Wait(Duration timeout = kForever);

  virtual bool IsReady() const = 0;
  virtual bool IsFailed() const { return false; }
  bool IsDecided() const { return IsReady() || IsFailed(); }

  // For people: "RpcEvent AppendEntries -> 2", "QuorumEvent 1 of 2 (total 3)".
  virtual std::string Describe() const = 0;

  // For tools: how many answers a wait on this event needs, and from which peers. The default is a
  // wait on a single thing that is no peer.
  virtual WaitDescription DescribeWait() const { return {}; }

  // A short string literal, the key of wait statistics: "AppendEntries", "disk".
  virtual const char* Label() const = 0;

  // Calls OnChildDecided of `parent` whenever this event is decided: once for a reply, each time
  // for a value that is set. If this event is decided already, the parent is called at once. The
  // parent is not kept alive.
  void NotifyOnDecision(const std::shared_ptr<Event>& parent);

 protected:
  // The wait itself, for an event that does more at its begin or end: it calls Event::DoWait. Wait
  // keeps the event alive until DoWait has returned, so members may be used after a suspension.
  virtual Outcome DoWait(Duration timeout);

  // Call after every change that may have decided the event: wakes the waiters, tells the parents.
  void Test();

  // A child that this event was registered with (NotifyOnDecision) is decided. The default calls
  // Test.
  virtual void OnChildDecided(Event& child);

  Runtime& runtime() const { return *runtime_; }

 private:
  friend class Scheduler;
  friend struct EventTestPeer;  // framework/tests: how much an event remembers

  // A coroutine that waits for this event. Stale once the coroutine's wait number is another: then
  // its wait has timed out.
  struct Waiter {
    Coroutine* coroutine;
    std::uint64_t wait_number;
  };

  void AddWaiter(const Waiter& waiter);

  Runtime* runtime_;              // set at construction: the runtime that was running
  bool telling_parents_ = false;  // parents_ may grow, but not shrink
  std::vector<Waiter> waiters_;
  std::vector<std::weak_ptr<Event>> parents_;
};

}  // namespace depfast

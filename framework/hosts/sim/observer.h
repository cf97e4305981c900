// Observer: hears of everything that checkers and reports need, at the moment it happens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "depfast/host/host.h"
#include "depfast/time.h"
#include "faults/fault.h"
#include "sim/disk.h"
#include "sim/step.h"
#include "sim/trace.h"

namespace depfast::sim {

// The stages of a frame's way.
enum class FrameStage : std::uint8_t {
  kQueued,    // given to the connection, which holds it
  kReleased,  // taken back by its sender before it was on the wire
  kOnWire,    // under way; a second time if the network duplicates it
  kArrived,   // at the receiver, which may read it later
  kLost,      // dropped by a fault, or its sender or receiver is down, or a cut lies between them
};

// An observer may crash and restart replicas, the one it hears of included: then that replica's
// outputs never leave.
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
  // A batch of the replica's disk has ended.
  virtual void OnDisk(PeerId replica, Time now, const SimDisk& disk) {
    (void)replica, (void)now, (void)disk;
  }
  // Crashes, restarts, faults that begin and end, a replica that died by itself.
  virtual void OnWorld(Time now, const std::string& what) { (void)now, (void)what; }
  virtual void OnRestart(PeerId replica, Time now) { (void)replica, (void)now; }
  // The five below only look: they must not change the world.
  // A file was truncated, renamed or removed in the middle of a batch. A crash could leave the disk
  // as it is now.
  virtual void OnRewrite(PeerId replica, Time now, const SimDisk& disk) {
    (void)replica, (void)now, (void)disk;
  }
  virtual void OnFrame(FrameStage stage, PeerId from, PeerId to, Time now, const Bytes& frame) {
    (void)stage, (void)from, (void)to, (void)now, (void)frame;
  }
  virtual void OnDeath(PeerId replica, Time now, const std::string& why) {
    (void)replica, (void)now, (void)why;
  }
  virtual void OnFaultBegins(Time now, const faults::Fault& fault) { (void)now, (void)fault; }
  virtual void OnFaultEnds(Time now, const faults::Fault& fault) { (void)now, (void)fault; }
};

// The observers of a simulation, and its trace.
class Observers {
 public:
  // Not owned; must outlive the simulation. Called in the order of addition.
  void Add(Observer* observer) { all_.push_back(observer); }

  Trace& trace() { return trace_; }

  // Calls `method` of every observer with `arguments`.
  template <typename... Parameters, typename... Arguments>
  void Tell(void (Observer::*method)(Parameters...), const Arguments&... arguments) const {
    for (Observer* observer : all_) (observer->*method)(arguments...);
  }

  // A change of the world, for the trace and for people. `words` is for people alone.
  void TellWorld(Time now, const std::string& what, const std::string& words = "") {
    trace_.AddWorld(now, what);
    Tell(&Observer::OnWorld, now, words.empty() ? what : what + ": " + words);
  }

 private:
  std::vector<Observer*> all_;
  Trace trace_;
};

}  // namespace depfast::sim

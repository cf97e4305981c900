// RuntimeProbe: an observer of a replica's runtime.
//
// Statistics, recordings, verification and detectors are probes. A runtime without a probe pays
// nothing for them. A probe must not change the runtime: a replica behaves the same with and
// without probes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "depfast/dependency.h"
#include "depfast/event.h"
#include "depfast/peer.h"
#include "depfast/rpc_event.h"
#include "depfast/time.h"

namespace depfast {

class Runtime;

// The cost of one step of a replica.
struct StepUsage {
  Time began{0};
  // Processor time. The simulator's model in simulation, measured on the real host.
  Duration cost{0};
  // From the beginning to the end: longer than `cost` where the processor is slow or shared.
  Duration took{0};
};

// All functions are called while the runtime's step runs, in the order in which things happen. The
// references are good during the call only. `runtime` tells the replica and the time.
class RuntimeProbe {
 public:
  // A coroutine.
  struct Task {
    std::uint64_t id = 0;  // counts the coroutines of this runtime, from 1; 0: outside a coroutine
    const char* name = "";
    Dependency dependency;
    Time waits_since{0};  // when its latest wait began
  };

  virtual ~RuntimeProbe() = default;

  // The service has started: its RPC handlers are known.
  virtual void OnStart(const Runtime& /*runtime*/) {}

  // A coroutine is made; its body has returned, or has let an exception escape. The coroutines that
  // the end of the replica unwinds have no OnEnd.
  virtual void OnSpawn(const Runtime& /*runtime*/, const Task& /*task*/) {}
  virtual void OnEnd(const Runtime& /*runtime*/, const Task& /*task*/) {}

  // A call is issued. One OnReply or one OnRelease follows, unless the replica ends first.
  virtual void OnCall(const Runtime& /*runtime*/, const Task& /*caller*/, const RpcCall& /*call*/) {
  }
  // The call has its reply, or has failed: see RpcCall::error, which includes the timeout.
  virtual void OnReply(const Runtime& /*runtime*/, const RpcCall& /*call*/) {}
  // The call is given up: see Rpc::Release.
  virtual void OnRelease(const Runtime& /*runtime*/, const RpcCall& /*call*/) {}
  // A reply that no call waits for: it is late, or a duplicate.
  virtual void OnStrayReply(const Runtime& /*runtime*/, PeerId /*from*/, CallId /*call*/) {}

  // A request of `peer`, a replica or a client, has come. Handlers that wait are spawned after it.
  virtual void OnRequest(const Runtime& /*runtime*/, PeerId /*peer*/,
                         const Dependency& /*dependency*/) {}
  // A request of `peer` is answered. `dependency` is the request's.
  virtual void OnAnswer(const Runtime& /*runtime*/, PeerId /*peer*/,
                        const Dependency& /*dependency*/) {}

  // A coroutine is suspended until `event` is decided; that wait is over. A Wait that returns at
  // once is not heard.
  virtual void OnWait(const Runtime& /*runtime*/, const Task& /*task*/, const Event& /*event*/) {}
  virtual void OnWaitEnd(const Runtime& /*runtime*/, const Task& /*task*/, const Event& /*event*/,
                         Outcome /*outcome*/) {}

  // A step has ended. In simulation its usage is known, and this is called, at the beginning of the
  // next step.
  virtual void OnStepEnd(const Runtime& /*runtime*/, const StepUsage& /*usage*/) {}
  // Whether OnStepEnd is called, always the same. The real host measures a step by system calls, so
  // a probe without need for them says no.
  virtual bool WantsUsage() const { return true; }

  // The outputs of the latest step have left, and the host waits for the next arrival: work that is
  // done now delays no output. A host may omit the call, and a busy one seldom has the occasion.
  virtual void OnIdle(const Runtime& /*runtime*/) {}
};

using Probes = std::vector<RuntimeProbe*>;

// A probe with a report of its findings. Reports also leave sealed replicas.
class ReportingProbe : public RuntimeProbe {
 public:
  // MessagePack. The header of the probe defines its contents and reads it.
  virtual std::string Report(const Runtime& runtime) const = 0;
};

}  // namespace depfast

// HostedRuntime: a Runtime with the part for its host.
//
// In a step the host delivers frames and completions, and then calls Run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "depfast/host/host.h"
#include "depfast/host/probe.h"
#include "depfast/note.h"
#include "depfast/runtime.h"
#include "depfast/time.h"

namespace depfast {

// The replica's number, and its limits.
struct RuntimeOptions {
  PeerId self = 0;                       // the replica's address: see Groups
  int replicas = 1;                      // of the whole cluster
  std::vector<int> groups = {};          // their sizes; empty: one group
  std::size_t stack_bytes = 256 * 1024;  // per coroutine; pages are used only when touched
  std::uint64_t resumes_per_step_max = 10'000'000;  // a guard against coroutines that spin
  Probes probes = {};   // each outlives the runtime, and hears of everything in this order
  NoteSink notes = {};  // empty: notes go nowhere
};

// Thrown by HostedRuntime::Run when a step does not end: more coroutine resumptions than the limit.
class RunawayError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class HostedRuntime final : public Runtime {
 public:
  // The host must outlive the runtime.
  HostedRuntime(Host& host, const RuntimeOptions& options);
  ~HostedRuntime();

  // Runs `body` (outside any coroutine) with this runtime as the current one.
  void Enter(const std::function<void()>& body);

  // Enter, for the body that starts the service.
  void Start(const std::function<void()>& body);

  // Senders and peers are given by their addresses.
  void DeliverFrame(PeerId from, std::string_view bytes);
  void DeliverIo(IoCompletion completion);
  // The connection to a replica is lost, or there again. Optional for a host.
  void DeliverLink(PeerId peer, bool is_up);

  // Runs until every coroutine waits, timers due at Now() included, then tells the host when the
  // next timer is due. Throws RunawayError, or the exception that left a coroutine.
  void Run();

  // The usage of the latest step, for probes. The host calls it once for each step, as soon as the
  // usage is known, and before it delivers anything of a later step. A host may omit the call
  // unless a probe wants it.
  void StepEnded(const StepUsage& usage);
  bool wants_usage() const;

  // For probes: the outputs of the latest step have left, and the host is about to wait.
  void Idle();

  // Ends every coroutine: each suspended Wait throws Cancelled, so that the destructors on the
  // coroutines' stacks run. The host ignores frames and requests that they still send. Called by
  // the destructor at the latest; a host calls it before it destroys the service whose data the
  // stacks refer to.
  void Shutdown();

  // For people: every suspended coroutine with its name, the event it waits on, since when, and its
  // stack.
  std::string DumpCoroutines();

 private:
  Time requested_wake_ = kNever;
};

}  // namespace depfast

#include "depfast/host/hosted_runtime.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/scheduler.h"

namespace depfast {
namespace {

thread_local Runtime* current_runtime = nullptr;

// Makes a runtime the current one for a scope, also when runtimes nest in one thread.
class CurrentScope {
 public:
  explicit CurrentScope(Runtime* runtime) : previous_(std::exchange(current_runtime, runtime)) {}
  ~CurrentScope() { current_runtime = previous_; }
  CurrentScope(const CurrentScope&) = delete;
  CurrentScope& operator=(const CurrentScope&) = delete;

 private:
  Runtime* previous_;
};

}  // namespace

Runtime& Runtime::Current() {
  assert(current_runtime != nullptr && "events and coroutines exist only inside a runtime's step");
  return *current_runtime;
}

HostedRuntime::HostedRuntime(Host& host, const RuntimeOptions& options) : Runtime(host, options) {}

HostedRuntime::~HostedRuntime() { Shutdown(); }

void HostedRuntime::Enter(const std::function<void()>& body) {
  const CurrentScope scope(this);
  body();
}

void HostedRuntime::Start(const std::function<void()>& body) {
  Enter(body);
  scheduler_->ForEachProbe([this](RuntimeProbe& probe) { probe.OnStart(*this); });
}

void HostedRuntime::DeliverFrame(PeerId from, std::string_view bytes) {
  const CurrentScope scope(this);
  rpc_.Deliver(IdOf(from), bytes);
}

void HostedRuntime::DeliverIo(IoCompletion completion) {
  const CurrentScope scope(this);
  storage_.Deliver(std::move(completion));
}

void HostedRuntime::DeliverLink(PeerId peer, bool is_up) {
  const CurrentScope scope(this);
  rpc_.DeliverLink(IdOf(peer), is_up);
}

void HostedRuntime::Run() {
  const CurrentScope scope(this);
  const Time now = host_.Now();
  scheduler_->RunUntilIdle(now);
  // A wish that has passed is used up; one that is still to come is kept if it is early enough: at
  // worst it causes a step with nothing to do.
  if (requested_wake_ <= now) requested_wake_ = kNever;
  const Time next = scheduler_->NextDeadline();
  if (next < requested_wake_) host_.WakeAt(requested_wake_ = next);
}

void HostedRuntime::StepEnded(const StepUsage& usage) {
  scheduler_->ForEachProbe([&](RuntimeProbe& probe) {
    if (probe.WantsUsage()) probe.OnStepEnd(*this, usage);
  });
}

bool HostedRuntime::wants_usage() const {
  const Probes& probes = scheduler_->probes();
  return std::any_of(probes.begin(), probes.end(),
                     [](const RuntimeProbe* probe) { return probe->WantsUsage(); });
}

void HostedRuntime::Idle() {
  scheduler_->ForEachProbe([this](RuntimeProbe& probe) { probe.OnIdle(*this); });
}

void HostedRuntime::Shutdown() {
  const CurrentScope scope(this);
  scheduler_->Shutdown();
}

std::string HostedRuntime::DumpCoroutines() {
  const CurrentScope scope(this);
  return scheduler_->Dump(host_.Now());
}

}  // namespace depfast

#include "depfast/runtime.h"

#include <cassert>
#include <utility>

#include "core/scheduler.h"
#include "depfast/host/random.h"
#include "depfast/value_event.h"

namespace depfast {
namespace {

thread_local Runtime* current_runtime = nullptr;

std::vector<PeerId> AllButSelf(const RuntimeOptions& options) {
  std::vector<PeerId> peers;
  for (PeerId id = 0; id < options.replicas; ++id) {
    if (id != options.self) peers.push_back(id);
  }
  return peers;
}

}  // namespace

class Runtime::CurrentScope {
 public:
  explicit CurrentScope(Runtime* runtime) : previous_(std::exchange(current_runtime, runtime)) {}
  ~CurrentScope() { current_runtime = previous_; }
  CurrentScope(const CurrentScope&) = delete;
  CurrentScope& operator=(const CurrentScope&) = delete;

 private:
  Runtime* previous_;
};

Runtime::Runtime(Host& host, const RuntimeOptions& options)
    : host_(host),
      options_(options),
      peers_(AllButSelf(options)),
      rpc_(host, *this),
      storage_(host),
      scheduler_(std::make_unique<Scheduler>(*this, options)) {}

Runtime::~Runtime() { Shutdown(); }

void Runtime::Shutdown() {
  const CurrentScope scope(this);
  scheduler_->Shutdown();
}

Runtime& Runtime::Current() {
  assert(current_runtime != nullptr && "events and coroutines exist only inside a runtime's step");
  return *current_runtime;
}

void Runtime::Enter(const std::function<void()>& body) {
  const CurrentScope scope(this);
  body();
}

void Runtime::Spawn(const char* name, std::function<void()> body) {
  scheduler_->Spawn(name, dependency(), std::move(body));
}

void Runtime::Sleep(Duration duration) { TimeoutEvent::After(duration)->Wait(); }

void Runtime::Yield() { scheduler_->YieldCurrent(); }

std::int64_t Runtime::RandomBetween(std::int64_t low, std::int64_t high) {
  assert(low <= high);
  const auto span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  RandomStream draw(host_.Random());
  const std::uint64_t offset = span == 0 ? draw.Next() : draw.Below(span);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

Duration Runtime::RandomBetween(Duration low, Duration high) {
  return Duration(RandomBetween(low.count(), high.count()));
}

Dependency Runtime::dependency() const { return scheduler_->current_dependency(); }

void Runtime::set_dependency(const Dependency& dependency) {
  scheduler_->set_current_dependency(dependency);
}

void Runtime::DeliverFrame(PeerId from, std::string_view bytes) {
  const CurrentScope scope(this);
  rpc_.Deliver(from, bytes);
}

void Runtime::DeliverIo(IoCompletion completion) {
  const CurrentScope scope(this);
  storage_.Deliver(std::move(completion));
}

void Runtime::Run() {
  const CurrentScope scope(this);
  const Time now = host_.Now();
  scheduler_->RunUntilIdle(now);
  // A wish that has passed is used up; one that is still to come is kept if it is early enough: at
  // worst it causes a step with nothing to do.
  if (requested_wake_ <= now) requested_wake_ = kNever;
  const Time next = scheduler_->NextDeadline();
  if (next < requested_wake_) host_.WakeAt(requested_wake_ = next);
}

std::string Runtime::DumpCoroutines() {
  const CurrentScope scope(this);
  return scheduler_->Dump(host_.Now());
}

std::vector<WaitRow> Runtime::WaitStatistics() const {
  return scheduler_->WaitStatistics(host_.Now());
}

}  // namespace depfast

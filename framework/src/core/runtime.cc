#include "depfast/runtime.h"

#include <cassert>
#include <utility>

#include "core/group_host.h"
#include "core/scheduler.h"
#include "depfast/host/hosted_runtime.h"
#include "depfast/host/random.h"
#include "depfast/timeout_event.h"

namespace depfast {
namespace {

std::vector<PeerId> AllBut(PeerId self, int replicas) {
  std::vector<PeerId> peers;
  for (PeerId id = 0; id < replicas; ++id) {
    if (id != self) peers.push_back(id);
  }
  return peers;
}

std::unique_ptr<Host> GroupHostFor(Host& host, const Groups& groups, int group) {
  if (groups.count() == 1) return nullptr;
  return std::make_unique<GroupHost>(host, groups, group);
}

}  // namespace

Runtime::Runtime(Host& host, const RuntimeOptions& options)
    : groups_(options.replicas, options.groups),
      address_(options.self),
      group_(groups_.GroupOf(address_)),
      self_(groups_.IdIn(group_, address_)),
      peers_(AllBut(self_, groups_.size(group_))),
      group_host_(GroupHostFor(host, groups_, group_)),
      host_(group_host_ != nullptr ? *group_host_ : host),
      rpc_(host_, *this),
      storage_(host_),
      scheduler_(std::make_unique<Scheduler>(*this, options)) {}

// The HostedRuntime has shut down: no coroutine is left that could use the members.
Runtime::~Runtime() = default;

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

}  // namespace depfast

#include "depfast/event.h"

#include <cassert>
#include <utility>

#include "core/scheduler.h"
#include "depfast/runtime.h"

namespace depfast {

const char* ToString(Outcome outcome) {
  switch (outcome) {
    case Outcome::kReady:
      return "ready";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kTimedOut:
      return "timed out";
  }
  return "?";
}

Event::Event() : runtime_(&Runtime::Current()) {}
Event::~Event() = default;

Outcome Event::Wait(Duration timeout) {
  if (IsReady()) return Outcome::kReady;
  if (IsFailed()) return Outcome::kFailed;
  return runtime_->scheduler().Block(*this, timeout);
}

void Event::NotifyOnDecision(const std::shared_ptr<Event>& parent) {
  assert(parent != nullptr && parent.get() != this);
  parents_.push_back(parent);
  if (IsDecided()) parent->OnChildDecided(*this);
}

void Event::Test() {
  const bool ready = IsReady();
  if (!ready && !IsFailed()) return;
  for (const Waiter& waiter : std::exchange(waiters_, {})) {
    runtime_->scheduler().Wake(waiter, ready ? Outcome::kReady : Outcome::kFailed);
  }
  for (std::size_t i = 0; i < parents_.size(); ++i) {  // by index: a parent may add another
    if (const auto alive = parents_[i].lock()) alive->OnChildDecided(*this);
  }
}

void Event::OnChildDecided(Event&) { Test(); }

}  // namespace depfast

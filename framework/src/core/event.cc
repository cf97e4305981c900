#include "depfast/event.h"

#include <cassert>
#include <utility>

#include "core/scheduler.h"
#include "depfast/runtime.h"

namespace depfast {
namespace {

// Drops the stale entries of a list that is about to grow, in amortised constant time. An event may
// live until its replica ends, and must not remember every wait of that time.
template <typename T, typename IsStale>
void PruneIfFull(std::vector<T>& list, IsStale is_stale) {
  if (list.empty() || list.size() < list.capacity()) return;
  std::erase_if(list, is_stale);
  list.reserve(2 * list.size() + 1);
}

}  // namespace

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
  const std::shared_ptr<Event> keep_alive = shared_from_this();
  return DoWait(timeout);
}

Outcome Event::DoWait(Duration timeout) {
  if (IsReady()) return Outcome::kReady;
  if (IsFailed()) return Outcome::kFailed;
  return runtime_->scheduler().Block(*this, timeout);
}

void Event::NotifyOnDecision(const std::shared_ptr<Event>& parent) {
  assert(parent != nullptr && parent.get() != this);
  if (!telling_parents_) {
    PruneIfFull(parents_, [](const std::weak_ptr<Event>& known) { return known.expired(); });
  }
  parents_.push_back(parent);
  if (IsDecided()) parent->OnChildDecided(*this);
}

void Event::Test() {
  const bool ready = IsReady();
  if (!ready && !IsFailed()) return;
  for (const Waiter& waiter : waiters_) {  // waking does not switch: nobody waits meanwhile
    runtime_->scheduler().Wake(waiter, ready ? Outcome::kReady : Outcome::kFailed);
  }
  waiters_.clear();
  const bool nested = std::exchange(telling_parents_, true);
  for (std::size_t i = 0; i < parents_.size(); ++i) {  // by index: a parent may add another
    if (const auto alive = parents_[i].lock()) alive->OnChildDecided(*this);
  }
  telling_parents_ = nested;
}

void Event::AddWaiter(const Waiter& waiter) {
  PruneIfFull(waiters_, [](const Waiter& known) { return Scheduler::IsOver(known); });
  waiters_.push_back(waiter);
}

void Event::OnChildDecided(Event&) { Test(); }

}  // namespace depfast

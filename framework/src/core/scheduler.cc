#include "core/scheduler.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "core/in_seconds.h"
#include "core/stack_overflow.h"
#include "core/stack_trace.h"

namespace depfast {

Scheduler::Scheduler(Runtime& runtime, const RuntimeOptions& options)
    : runtime_(runtime), options_(options), probes_(options.probes) {}

Scheduler::~Scheduler() { Shutdown(); }

void Scheduler::Spawn(const char* name, const Dependency& dependency, std::function<void()> body) {
  if (stopping_) return;  // a destructor on an unwinding stack may try
  Coroutine* coroutine = TakeIdle();
  coroutine->id_ = ++last_coroutine_;
  coroutine->name_ = name;
  coroutine->body_ = std::move(body);
  coroutine->dependency_ = dependency;
  ready_.push_back(coroutine);
  ForEachProbe(
      [this, coroutine](RuntimeProbe& probe) { probe.OnSpawn(runtime_, TaskOf(*coroutine)); });
}

Coroutine* Scheduler::TakeIdle() {
  if (!idle_.empty()) {
    Coroutine* coroutine = idle_.back();
    idle_.pop_back();
    return coroutine;
  }
  auto coroutine = std::make_unique<Coroutine>();
  Coroutine* self = coroutine.get();
  self->fiber_ = std::make_unique<Fiber>(options_.stack_bytes, [this, self] { WorkerLoop(self); });
  workers_.push_back(std::move(coroutine));
  return self;
}

void Scheduler::WorkerLoop(Coroutine* self) {
  while (self->body_) {
    RunTask(self);
    self->body_ = nullptr;
    idle_.push_back(self);
    self->fiber_->Yield();
  }
}

void Scheduler::RunTask(Coroutine* self) {
  self->in_body_ = true;
  try {
    self->body_();
  } catch (const Cancelled&) {
    // The replica is stopping; the stack above is unwound, which is all that was wanted.
  } catch (const boost::context::detail::forced_unwind&) {
    throw;
  } catch (...) {
    escaped_ = std::current_exception();
  }
  self->in_body_ = false;
  ForEachProbe([this, self](RuntimeProbe& probe) {
    if (!stopping_) probe.OnEnd(runtime_, TaskOf(*self));
  });
}

void Scheduler::Resume(Coroutine* coroutine) {
  Coroutine* const previous = std::exchange(current_, coroutine);
  {
    const RunningCoroutine mark(coroutine->name(), coroutine->stack());
    coroutine->fiber_->Resume();
  }
  current_ = previous;
}

void Scheduler::Suspend(Coroutine* self) {
  self->fiber_->Yield();
  while (self->stack_wanted_ != nullptr) {
    *std::exchange(self->stack_wanted_, nullptr) = CurrentStackTrace();
    self->fiber_->Yield();
  }
  if (stopping_) ThrowCancelled(self);
}

Outcome Scheduler::Block(Event& event, Duration timeout) {
  Coroutine* const self = current_;
  assert(self != nullptr && "Wait needs a coroutine: use Runtime::Spawn");
  assert(timeout >= Duration::zero());
  if (stopping_) ThrowCancelled(self);
  const Time now = runtime_.Now();
  ++self->wait_number_;
  self->waiting_on_ = &event;
  self->waiting_since_ = now;
  event.AddWaiter({self, self->wait_number_});
  ForEachProbe([this, self](RuntimeProbe& probe) {
    probe.OnWait(runtime_, TaskOf(*self), *self->waiting_on_);
  });
  if (const Time deadline = After(now, timeout); deadline != kNever) {
    PushTimer({deadline, ++last_timer_, self, self->wait_number_});
  }
  Suspend(self);
  return self->outcome_;
}

void Scheduler::YieldCurrent() {
  Coroutine* const self = current_;
  assert(self != nullptr);
  if (stopping_) ThrowCancelled(self);
  ready_.push_back(self);
  Suspend(self);
}

bool Scheduler::IsOver(const Event::Waiter& wait) {
  return wait.coroutine->waiting_on_ == nullptr || wait.coroutine->wait_number_ != wait.wait_number;
}

void Scheduler::Wake(const Event::Waiter& waiter, Outcome outcome) {
  // After Shutdown the coroutines are gone, but events that they waited on may be set once more.
  if (stopping_ || IsOver(waiter)) return;
  Coroutine* const coroutine = waiter.coroutine;
  ForEachProbe([this, coroutine, outcome](RuntimeProbe& probe) {
    probe.OnWaitEnd(runtime_, TaskOf(*coroutine), *coroutine->waiting_on_, outcome);
  });
  coroutine->waiting_on_ = nullptr;
  coroutine->outcome_ = outcome;
  ready_.push_back(coroutine);
}

Scheduler::TimerId Scheduler::AddTimer(Time when, std::function<void()> callback) {
  const TimerId id = ++last_timer_;
  callbacks_.emplace(id, std::move(callback));
  PushTimer({when, id, nullptr, 0});
  return id;
}

void Scheduler::CancelTimer(TimerId timer) { callbacks_.erase(timer); }

void Scheduler::PushTimer(const Timer& timer) {
  timers_.push_back(timer);
  std::push_heap(timers_.begin(), timers_.end(), Later());
}

Scheduler::Timer Scheduler::PopTimer() {
  std::pop_heap(timers_.begin(), timers_.end(), Later());
  const Timer timer = timers_.back();
  timers_.pop_back();
  return timer;
}

bool Scheduler::IsStale(const Timer& timer) const {
  if (timer.coroutine == nullptr) return !callbacks_.contains(timer.sequence);
  return IsOver({timer.coroutine, timer.wait_number});
}

Time Scheduler::NextDeadline() {
  while (!timers_.empty() && IsStale(timers_.front())) PopTimer();
  return timers_.empty() ? kNever : timers_.front().when;
}

bool Scheduler::FireExpired(Time now) {
  if (NextDeadline() > now) return false;
  const Timer timer = PopTimer();
  if (timer.coroutine != nullptr) {
    Wake({timer.coroutine, timer.wait_number}, Outcome::kTimedOut);
  } else {
    auto callback = std::move(callbacks_.at(timer.sequence));
    callbacks_.erase(timer.sequence);
    callback();
  }
  return true;
}

void Scheduler::RunUntilIdle(Time now) {
  resumes_left_ = options_.resumes_per_step_max;
  do {
    while (!ready_.empty()) {
      Coroutine* const next = ready_.front();
      ready_.pop_front();
      if (resumes_left_-- == 0) {
        throw RunawayError(std::string("a step does not end: coroutine '") + next->name() +
                           "' and others were resumed " +
                           std::to_string(options_.resumes_per_step_max) +
                           " times without time passing");
      }
      Resume(next);
      if (escaped_) std::rethrow_exception(std::exchange(escaped_, nullptr));
    }
  } while (FireExpired(now));
}

void Scheduler::Shutdown() {
  if (std::exchange(stopping_, true)) return;
  ready_.clear();
  timers_.clear();
  callbacks_.clear();
  for (std::size_t i = 0; i < workers_.size(); ++i) Cancel(workers_[i].get());
  workers_.clear();
}

void Scheduler::Cancel(Coroutine* coroutine) {
  assert(coroutine != current_ && "a replica cannot be stopped from inside itself");
  if (!coroutine->in_body_) coroutine->body_ = nullptr;  // spawned, but it has not begun
  while (!coroutine->fiber_->done()) Resume(coroutine);
}

void Scheduler::ThrowCancelled(Coroutine* self) {
  constexpr int kPatience = 1000;
  if (++self->swallowed_cancellations_ > kPatience) {
    std::fprintf(stderr,
                 "coroutine '%s' swallows its own end: a catch (...) around a Wait must rethrow\n",
                 self->name());
    std::abort();
  }
  throw Cancelled();
}

Dependency Scheduler::current_dependency() const {
  return current_ != nullptr ? current_->dependency_ : Dependency{};
}

void Scheduler::set_current_dependency(const Dependency& dependency) {
  if (current_ != nullptr) current_->dependency_ = dependency;
}

std::string Scheduler::Dump(Time now) {
  std::vector<Coroutine*> suspended;
  for (const auto& worker : workers_) {
    if (worker->waiting_on_ != nullptr) suspended.push_back(worker.get());
  }
  std::sort(suspended.begin(), suspended.end(),
            [](const Coroutine* a, const Coroutine* b) { return a->id_ < b->id_; });
  std::string out = std::to_string(suspended.size()) + " suspended coroutine" +
                    (suspended.size() == 1 ? "" : "s") + "\n";
  for (Coroutine* coroutine : suspended) {
    std::string stack;
    coroutine->stack_wanted_ = &stack;
    Resume(coroutine);  // it writes its own stack, then yields again
    out += "coroutine " + std::to_string(coroutine->id_) + " '" + coroutine->name() +
           "' waits on " + coroutine->waiting_on_->Describe() + " for " +
           InSeconds(now - coroutine->waiting_since_) + "\n" + stack;
  }
  return out;
}

RuntimeProbe::Task Scheduler::TaskOf(const Coroutine& coroutine) {
  return {coroutine.id_, coroutine.name_, coroutine.dependency_, coroutine.waiting_since_};
}

RuntimeProbe::Task Scheduler::current_task() const {
  return current_ != nullptr ? TaskOf(*current_) : RuntimeProbe::Task{};
}

}  // namespace depfast

#include <cassert>

#include "core/in_seconds.h"
#include "core/scheduler.h"
#include "depfast/disk_event.h"
#include "depfast/runtime.h"
#include "depfast/timeout_event.h"
#include "depfast/value_event.h"

namespace depfast {

std::string IntEvent::Describe() const {
  return std::string("IntEvent ") + label_ + " (" + std::to_string(value_) + " of " +
         std::to_string(target_) + ")";
}

std::shared_ptr<TimeoutEvent> TimeoutEvent::After(Duration delay) {
  assert(delay >= Duration::zero());
  Runtime& runtime = Runtime::Current();
  const auto event =
      std::make_shared<TimeoutEvent>(Private{}, depfast::After(runtime.Now(), delay));
  const std::weak_ptr<TimeoutEvent> weak = event;
  runtime.scheduler().AddTimer(event->deadline_, [weak] {
    if (const auto alive = weak.lock()) {
      alive->expired_ = true;
      alive->Test();
    }
  });
  return event;
}

std::string TimeoutEvent::Describe() const { return "TimeoutEvent at " + InSeconds(deadline_); }

DiskEvent::DiskEvent(IoRequest::Kind kind, std::string file)
    : kind_(kind), file_(std::move(file)) {}

int DiskEvent::error() const {
  assert(done_);
  return completion_.error;
}

const std::string& DiskEvent::data() const {
  assert(IsReady() && kind_ == IoRequest::Kind::kRead);
  return *completion_.data;
}

std::string DiskEvent::Describe() const {
  static constexpr const char* kNames[] = {"append to", "read of", "truncate of", "rename of",
                                           "remove of"};
  return std::string("DiskEvent ") + kNames[static_cast<int>(kind_)] + " " + file_;
}

void DiskEvent::Complete(IoCompletion completion) {
  completion_ = std::move(completion);
  done_ = true;
  Test();
}

}  // namespace depfast

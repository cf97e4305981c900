// TimeoutEvent: a moment to wait for, as a child of other events.
//
// A coroutine that just wants to wait calls Runtime::Sleep, or gives its Wait a timeout.
#pragma once

#include <memory>
#include <string>

#include "depfast/event.h"
#include "depfast/time.h"

namespace depfast {

// Ready from a moment on.
class TimeoutEvent : public Event {
  struct Private {};

 public:
  // Ready `delay` from now. Requires: delay >= 0.
  static std::shared_ptr<TimeoutEvent> After(Duration delay);

  // Use After: it also registers the event with the scheduler, which a constructor cannot do.
  TimeoutEvent(Private, Time deadline) : deadline_(deadline) {}

  Time deadline() const { return deadline_; }
  bool IsReady() const override { return expired_; }
  const char* Label() const override { return "timeout"; }
  std::string Describe() const override;

 private:
  Time deadline_;
  bool expired_ = false;
};

}  // namespace depfast

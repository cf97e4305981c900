// SettledEvent: ready as soon as another event is decided, ready or failed. Given, not submitted.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "depfast/event.h"

namespace depfast::copilot {

class SettledEvent : public Event {
 public:
  static std::shared_ptr<SettledEvent> Of(std::shared_ptr<Event> event) {
    auto settled = std::make_shared<SettledEvent>(std::move(event));
    settled->event_->NotifyOnDecision(settled);
    return settled;
  }
  // Use Of: it also registers with the event, which a constructor cannot do.
  explicit SettledEvent(std::shared_ptr<Event> event) : event_(std::move(event)) {}

  bool IsReady() const override { return event_->IsDecided(); }
  const char* Label() const override { return event_->Label(); }
  std::string Describe() const override { return event_->Describe(); }
  WaitDescription DescribeWait() const override { return event_->DescribeWait(); }

 private:
  const std::shared_ptr<Event> event_;
};

}  // namespace depfast::copilot

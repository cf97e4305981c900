#include "depfast/compound_event.h"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

namespace depfast {

void CompoundEvent::Add(EventPtr child) {
  assert(child != nullptr);
  children_.push_back(std::move(child));
  children_.back()->NotifyOnDecision(shared_from_this());
}

int CompoundEvent::CountReady() const {
  return static_cast<int>(std::count_if(children_.begin(), children_.end(),
                                        [](const EventPtr& e) { return e->IsReady(); }));
}

int CompoundEvent::CountFailed() const {
  return static_cast<int>(std::count_if(children_.begin(), children_.end(),
                                        [](const EventPtr& e) { return e->IsFailed(); }));
}

std::string CompoundEvent::Describe() const {
  std::string out = std::string(Label()) + "(";
  for (std::size_t i = 0; i < children_.size(); ++i) {
    out += (i > 0 ? ", " : "") + children_[i]->Describe();
  }
  return out + ")";
}

WaitDescription CompoundEvent::DescribeWait() const {
  WaitDescription wait;
  wait.needed = wait.total = static_cast<int>(children_.size());
  for (const EventPtr& child : children_) wait.Include(child->DescribeWait());
  return wait;
}

std::shared_ptr<AndEvent> AndEvent::Of(std::initializer_list<EventPtr> children) {
  auto event = std::make_shared<AndEvent>();
  for (const EventPtr& child : children) event->Add(child);
  return event;
}

bool AndEvent::IsReady() const { return CountReady() == static_cast<int>(children().size()); }
bool AndEvent::IsFailed() const { return CountFailed() > 0; }

WaitDescription AndEvent::DescribeWait() const {
  WaitDescription all = CompoundEvent::DescribeWait();
  std::vector<WaitDescription> on_peers;
  for (const EventPtr& child : children()) {
    WaitDescription wait = child->DescribeWait();
    if (!wait.peers.empty()) on_peers.push_back(std::move(wait));
  }
  if (on_peers.size() == 1) {
    all.needed = on_peers[0].needed;
    all.total = on_peers[0].total;
  }
  return all;
}

std::shared_ptr<OrEvent> OrEvent::Of(std::initializer_list<EventPtr> children) {
  auto event = std::make_shared<OrEvent>();
  for (const EventPtr& child : children) event->Add(child);
  return event;
}

bool OrEvent::IsReady() const { return CountReady() > 0; }

bool OrEvent::IsFailed() const {
  return !children().empty() && CountFailed() == static_cast<int>(children().size());
}

WaitDescription OrEvent::DescribeWait() const {
  WaitDescription wait = CompoundEvent::DescribeWait();
  wait.needed = 1;
  return wait;
}

}  // namespace depfast

// Events made of events (document 002, section 3.1.3). They nest, and wake as their children do.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "depfast/event.h"

namespace depfast {

using EventPtr = std::shared_ptr<Event>;

// The common part of AndEvent and OrEvent: the children. The compound keeps them alive.
class CompoundEvent : public Event {
 public:
  // Adds a child. A child that is decided already counts at once. Requires: child is not null.
  void Add(EventPtr child);

  const std::vector<EventPtr>& children() const { return children_; }
  std::string Describe() const override;
  // All children out of all; the peers are those of the children.
  WaitDescription DescribeWait() const override;

 protected:
  int CountReady() const;
  int CountFailed() const;

 private:
  std::vector<EventPtr> children_;
};

// Ready when every child is; failed as soon as one child has failed. Without children: ready.
class AndEvent : public CompoundEvent {
 public:
  static std::shared_ptr<AndEvent> Of(std::initializer_list<EventPtr> children);

  bool IsReady() const override;
  bool IsFailed() const override;
  // If one child alone is on peers, the compound needs that child's number of answers:
  // "and(disk, or(call, call))" is one of two.
  WaitDescription DescribeWait() const override;
  const char* Label() const override { return "and"; }
};

// Ready as soon as one child is; failed when every child has failed. Without children: neither.
class OrEvent : public CompoundEvent {
 public:
  static std::shared_ptr<OrEvent> Of(std::initializer_list<EventPtr> children);

  bool IsReady() const override;
  bool IsFailed() const override;
  // One child out of all.
  WaitDescription DescribeWait() const override;
  const char* Label() const override { return "or"; }
};

}  // namespace depfast

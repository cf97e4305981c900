// Basic events that hold a value: "wait until X is Y" in one line (document 002, Table 1).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "depfast/event.h"

namespace depfast {

// Ready while its predicate holds for the value. Unlike a reply, a value can change back: an event
// that was ready can stop being so, and a coroutine that was woken should look at the value.
template <typename T>
class ValueEvent : public Event {
 public:
  using Predicate = std::function<bool(const T&)>;

  // `label` must outlive the event (a string literal).
  ValueEvent(const char* label, T initial, Predicate is_ready)
      : label_(label), value_(std::move(initial)), is_ready_(std::move(is_ready)) {}

  void Set(T value) {
    value_ = std::move(value);
    Test();
  }
  const T& value() const { return value_; }

  bool IsReady() const override { return is_ready_(value_); }
  const char* Label() const override { return label_; }
  std::string Describe() const override { return std::string("ValueEvent ") + label_; }

 private:
  const char* label_;
  T value_;
  Predicate is_ready_;
};

// Counts up to a target, and stays ready above it.
class IntEvent : public Event {
 public:
  IntEvent(const char* label, std::int64_t target) : label_(label), target_(target) {}

  void Add(std::int64_t amount = 1) {
    value_ += amount;
    Test();
  }
  void Set(std::int64_t value) {
    value_ = value;
    Test();
  }
  std::int64_t value() const { return value_; }
  std::int64_t target() const { return target_; }

  bool IsReady() const override { return value_ >= target_; }
  const char* Label() const override { return label_; }
  std::string Describe() const override;

 private:
  const char* label_;
  std::int64_t value_ = 0;
  std::int64_t target_;
};

}  // namespace depfast

// Agenda: the future events in order of time, and the clock.
//
// Events of one instant happen in the order in which they were added. So a run is a function of the
// added events and of their order.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "depfast/host/host.h"
#include "depfast/time.h"

namespace depfast::sim {

struct Event {
  enum class Kind : std::uint8_t {
    kArrive,    // a frame, at node `node`
    kStep,      // a step begins
    kStepEnd,   // a step has had its processor time
    kWake,      // a replica's timer
    kBatchEnd,  // a disk batch takes effect
    kCall,      // a test's or a fault's action
  };

  Kind kind = Kind::kCall;
  std::int32_t node = 0;       // index of the node at which it happens
  std::int32_t from = 0;       // kArrive: index of the sender
  std::uint64_t epoch = 0;     // of the node (kArrive: of the link): an event of an old one is void
  Bytes bytes;                 // kArrive
  std::function<void()> call;  // kCall
};

class Agenda {
 public:
  // The time of the latest event, or the limit up to which there was none.
  Time now() const { return now_; }
  // The number of events that have happened.
  std::uint64_t events() const { return events_; }

  // Adds an event and returns it for the caller to complete. The reference is good until the next
  // call. Requires: when >= now().
  Event& Push(Time when, Event::Kind kind, std::size_t node, std::uint64_t epoch) {
    assert(when >= now_);
    if (free_slots_.empty()) {
      free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    const std::uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    heap_.push_back({when, ++last_sequence_, slot});
    std::push_heap(heap_.begin(), heap_.end(), Later());
    Event& event = slots_[slot];
    event.kind = kind;
    event.node = static_cast<std::int32_t>(node);
    event.epoch = epoch;
    return event;
  }

  // Calls `action` at `when`. Requires: when >= now().
  void At(Time when, std::function<void()> action) {
    Push(when, Event::Kind::kCall, 0, 0).call = std::move(action);
  }

  // Takes the next event and moves the clock to it. If there is none up to `limit`, moves the clock
  // to the limit and returns nothing.
  std::optional<Event> Pop(Time limit) {
    std::optional<Event> event;
    if (heap_.empty() || heap_.front().when > limit) {
      now_ = std::max(now_, limit);
      return event;
    }
    std::pop_heap(heap_.begin(), heap_.end(), Later());
    const Entry entry = heap_.back();
    heap_.pop_back();
    event.emplace(std::move(slots_[entry.slot]));
    free_slots_.push_back(entry.slot);
    now_ = entry.when;
    ++events_;
    return event;
  }

 private:
  // The heap moves entries about, so they are small; the events stay in their slots.
  struct Entry {
    Time when;
    std::uint64_t sequence;
    std::uint32_t slot;
  };

  // A type, not a function: the heap's algorithms then inline it.
  struct Later {
    bool operator()(const Entry& a, const Entry& b) const {
      return a.when != b.when ? a.when > b.when : a.sequence > b.sequence;
    }
  };

  Time now_{0};
  std::uint64_t events_ = 0;
  std::uint64_t last_sequence_ = 0;
  std::vector<Entry> heap_;
  std::vector<Event> slots_;
  std::vector<std::uint32_t> free_slots_;
};

}  // namespace depfast::sim

// Slots: things under way, by number. The memory is used again, and a callback that captures an
// object and a number costs no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace depfast::kv {

template <typename Thing>
class Slots {
 public:
  // The numbers of two things differ, even if one is gone when the other comes.
  using Number = std::uint64_t;

  Number Add(Thing thing) {
    if (free_.empty()) {
      free_.push_back(slots_.size());
      slots_.emplace_back();
    }
    const std::size_t at = free_.back();
    free_.pop_back();
    slots_[at].thing = std::move(thing);
    return Number{slots_[at].generation} << kIndexBits | at;
  }

  // Null if it is gone. Valid until the next Add.
  Thing* Find(Number number) {
    Slot& slot = slots_[number & kIndexMask];
    return slot.generation == number >> kIndexBits ? &slot.thing : nullptr;
  }

  // Requires: it is not gone.
  Thing Take(Number number) {
    const std::size_t at = number & kIndexMask;
    ++slots_[at].generation;
    free_.push_back(at);
    return std::exchange(slots_[at].thing, {});
  }

 private:
  static constexpr int kIndexBits = 32;
  static constexpr Number kIndexMask = (Number{1} << kIndexBits) - 1;

  struct Slot {
    std::uint32_t generation = 0;
    Thing thing;
  };

  std::vector<Slot> slots_;
  std::vector<std::size_t> free_;
};

}  // namespace depfast::kv

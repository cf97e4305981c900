// ByteBudget: the bytes that all connections of a port hold, and the share of one of them.
#pragma once

#include <cassert>
#include <cstddef>

namespace depfast::real {

class ByteBudget {
 public:
  explicit ByteBudget(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  bool HasRoomFor(std::size_t bytes) const { return held_ + bytes <= bytes_max_; }
  std::size_t held() const { return held_; }
  // Above the limit, too: a connection that holds nothing may always hold one answer.
  void Add(std::size_t bytes) { held_ += bytes; }
  // Requires: at least these bytes are held.
  void Remove(std::size_t bytes) {
    assert(bytes <= held_);
    held_ -= bytes;
  }

 private:
  const std::size_t bytes_max_;
  std::size_t held_ = 0;
};

// The bytes that one connection holds. They leave the budget with it.
class HeldBytes {
 public:
  // `all` must outlive this. Null: there is no budget, so there is room.
  explicit HeldBytes(ByteBudget* all) : all_(all) {}
  ~HeldBytes() { Remove(bytes_); }
  HeldBytes(const HeldBytes&) = delete;
  HeldBytes& operator=(const HeldBytes&) = delete;

  std::size_t bytes() const { return bytes_; }
  bool HasRoomFor(std::size_t bytes) const { return all_ == nullptr || all_->HasRoomFor(bytes); }
  void Add(std::size_t bytes) {
    bytes_ += bytes;
    if (all_ != nullptr) all_->Add(bytes);
  }
  // Requires: at least these bytes are held.
  void Remove(std::size_t bytes) {
    assert(bytes <= bytes_);
    bytes_ -= bytes;
    if (all_ != nullptr) all_->Remove(bytes);
  }

 private:
  ByteBudget* const all_;
  std::size_t bytes_ = 0;
};

}  // namespace depfast::real

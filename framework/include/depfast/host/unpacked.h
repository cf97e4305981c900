// Unpacked: bytes as one MessagePack value.
//
// MessagePack's parser finds the values, and these objects hold them. MessagePack's own objects
// take memory three times for the smallest body, which takes longer than the parsing. Here the
// objects of a small body need no memory from the heap.
#pragma once

#include <array>
#include <cstddef>
#include <msgpack.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace depfast::frame_internal {

class Unpacked {
 public:
  // Unpacks exactly one value spanning all of `bytes`. If that fails there is no value, and `error`
  // is the reason. Strings of the value are views into `bytes`, which must outlive it. Never reads
  // outside `bytes`, and never allocates more than a small multiple of their number.
  Unpacked(std::string_view bytes, std::string& error);
  Unpacked(const Unpacked&) = delete;
  Unpacked& operator=(const Unpacked&) = delete;

  explicit operator bool() const { return good_; }
  // Requires: there is a value.
  const msgpack::object& get() const { return value_; }

 private:
  class Visitor;

  msgpack::object* MakeObjects(std::size_t count);

  bool good_ = false;
  msgpack::object value_;
  // The elements of arrays and maps.
  struct alignas(msgpack::object) Room {
    std::byte bytes[sizeof(msgpack::object)];
  };
  std::array<Room, 24> first_;  // no constructor runs
  std::size_t used_ = 0;        // of first_
  std::optional<msgpack::zone> others_;
};

}  // namespace depfast::frame_internal

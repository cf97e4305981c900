#include "depfast/host/unpacked.h"

#include <algorithm>
#include <cstdint>
#include <memory>

namespace depfast::frame_internal {
namespace {

constexpr std::size_t kNestingMax = 16;
constexpr std::size_t kZoneBytesMin = 512;

}  // namespace

// MessagePack's parser calls one of these functions for each value. The first one that returns
// false ends the parsing.
class Unpacked::Visitor : public msgpack::null_visitor {
 public:
  Visitor(std::size_t bytes, Unpacked& into) : claimable_(bytes), into_(into) {
    next_[0] = &into.value_;
  }

  const char* error() const { return error_; }

  bool visit_nil() {
    Next(msgpack::type::NIL);
    return true;
  }
  bool visit_boolean(bool value) {
    Next(msgpack::type::BOOLEAN)->via.boolean = value;
    return true;
  }
  bool visit_positive_integer(std::uint64_t value) {
    Next(msgpack::type::POSITIVE_INTEGER)->via.u64 = value;
    return true;
  }
  // MessagePack's name: any number that was written as signed.
  bool visit_negative_integer(std::int64_t value) {
    if (value >= 0) return visit_positive_integer(static_cast<std::uint64_t>(value));
    Next(msgpack::type::NEGATIVE_INTEGER)->via.i64 = value;
    return true;
  }
  bool visit_float32(float value) {
    Next(msgpack::type::FLOAT32)->via.f64 = value;
    return true;
  }
  bool visit_float64(double value) {
    Next(msgpack::type::FLOAT64)->via.f64 = value;
    return true;
  }
  bool visit_str(const char* data, std::uint32_t bytes) {
    Next(msgpack::type::STR)->via.str = {bytes, data};
    return true;
  }
  bool visit_bin(const char* data, std::uint32_t bytes) {
    Next(msgpack::type::BIN)->via.bin = {bytes, data};
    return true;
  }
  // The byte before the data is their kind. `bytes` counts it, the object does not.
  bool visit_ext(const char* data, std::uint32_t bytes) {
    Next(msgpack::type::EXT)->via.ext = {bytes - 1, data};
    return true;
  }

  bool start_array(std::uint32_t size) {
    msgpack::object* const array = Next(msgpack::type::ARRAY);
    if (!Enter(size)) return false;
    array->via.array = {size, next_[depth_]};
    return true;
  }
  bool end_array() { return Leave(); }

  bool start_map(std::uint32_t size) {
    static_assert(sizeof(msgpack::object_kv) == 2 * sizeof(msgpack::object));
    msgpack::object* const map = Next(msgpack::type::MAP);
    if (!Enter(2 * std::size_t{size})) return false;
    map->via.map = {size, reinterpret_cast<msgpack::object_kv*>(next_[depth_])};
    return true;
  }
  bool end_map() { return Leave(); }

  void parse_error(std::size_t, std::size_t) { error_ = "parse error"; }
  void insufficient_bytes(std::size_t, std::size_t) { error_ = "insufficient bytes"; }

 private:
  // The place of the value that was met.
  msgpack::object* Next(msgpack::type::object_type type) {
    msgpack::object* const value = next_[depth_]++;
    value->type = type;
    return value;
  }

  // An element takes at least a byte. So no honest value claims more elements than it has bytes,
  // over all levels of nesting: a forged number cannot make us allocate.
  bool Enter(std::size_t elements) {
    if (elements > claimable_) {
      error_ = "more elements claimed than there are bytes";
      return false;
    }
    if (depth_ == kNestingMax) {
      error_ = "depth size overflow";
      return false;
    }
    claimable_ -= elements;
    next_[++depth_] = into_.MakeObjects(elements);
    return true;
  }

  bool Leave() {
    --depth_;
    return true;
  }

  std::size_t claimable_;  // elements
  std::size_t depth_ = 0;
  std::array<msgpack::object*, kNestingMax + 1> next_;  // of each array or map that is open
  const char* error_ = "";
  Unpacked& into_;
};

Unpacked::Unpacked(std::string_view bytes, std::string& error) {
  Visitor visitor(bytes.size(), *this);
  std::size_t used = 0;
  try {
    if (!msgpack::parse(bytes.data(), bytes.size(), used, visitor)) {
      error = std::string("the body is not MessagePack: ") + visitor.error();
    } else if (used != bytes.size()) {
      error = "bytes after the body";
    } else {
      good_ = true;
    }
  } catch (const msgpack::unpack_error& problem) {  // an extension of 2^32 bytes
    error = std::string("the body is not MessagePack: ") + problem.what();
  }
}

msgpack::object* Unpacked::MakeObjects(std::size_t count) {
  void* memory = nullptr;
  if (count <= first_.size() - used_) {
    memory = first_.data() + used_;
    used_ += count;
  } else {
    const std::size_t bytes = count * sizeof(msgpack::object);
    if (!others_)
      others_.emplace(std::clamp<std::size_t>(bytes, kZoneBytesMin, MSGPACK_ZONE_CHUNK_SIZE));
    memory = others_->allocate_align(bytes, alignof(msgpack::object));
  }
  auto* const objects = static_cast<msgpack::object*>(memory);
  std::uninitialized_default_construct_n(objects, count);
  return objects;
}

}  // namespace depfast::frame_internal

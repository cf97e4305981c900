#include "depfast/host/unpacked.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>

namespace depfast::frame_internal {
namespace {

constexpr std::size_t kNestingMax = 16;
constexpr std::size_t kZoneBytesMin = 512;

}  // namespace

// Each function returns whether the bytes were good. If not, the reason is in error().
class Unpacked::Reader {
 public:
  Reader(std::string_view bytes, Unpacked& into)
      : rest_(bytes), claimable_(bytes.size()), into_(into) {}

  bool Read(msgpack::object& value) {
    if (rest_.empty()) return Fail("insufficient bytes");
    const auto first = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    if (first <= 0x7f) return SetUnsigned(value, first);
    if (first <= 0x8f) return ReadMap(value, first & 0x0f);
    if (first <= 0x9f) return ReadArray(value, first & 0x0f);
    if (first <= 0xbf) return ReadString(value, first & 0x1f);
    if (first >= 0xe0) return SetSigned(value, static_cast<std::int8_t>(first));
    return ReadTyped(value, first);
  }

  const char* error() const { return error_; }
  std::string_view rest() const { return rest_; }

 private:
  bool Fail(const char* error) {
    error_ = error;
    return false;
  }

  // A big-endian number.
  template <typename Number>
  bool Take(Number& number) {
    if (rest_.size() < sizeof(Number)) return Fail("insufficient bytes");
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
      bits = bits << 8 | static_cast<std::uint8_t>(rest_[i]);
    }
    number = static_cast<Number>(bits);
    rest_.remove_prefix(sizeof(Number));
    return true;
  }

  // The values that begin with a byte of their type.
  bool ReadTyped(msgpack::object& value, std::uint8_t type) {
    switch (type) {
      case 0xc0:
        value.type = msgpack::type::NIL;
        return true;
      case 0xc2:
      case 0xc3:
        value.type = msgpack::type::BOOLEAN;
        value.via.boolean = type == 0xc3;
        return true;
      case 0xc4:
        return ReadSized<std::uint8_t>(value, &Reader::ReadBinary);
      case 0xc5:
        return ReadSized<std::uint16_t>(value, &Reader::ReadBinary);
      case 0xc6:
        return ReadSized<std::uint32_t>(value, &Reader::ReadBinary);
      case 0xc7:
        return ReadSized<std::uint8_t>(value, &Reader::ReadExtension);
      case 0xc8:
        return ReadSized<std::uint16_t>(value, &Reader::ReadExtension);
      case 0xc9:
        return ReadSized<std::uint32_t>(value, &Reader::ReadExtension);
      case 0xca:
        return ReadFloat<std::uint32_t, float>(value, msgpack::type::FLOAT32);
      case 0xcb:
        return ReadFloat<std::uint64_t, double>(value, msgpack::type::FLOAT64);
      case 0xcc:
        return ReadUnsigned<std::uint8_t>(value);
      case 0xcd:
        return ReadUnsigned<std::uint16_t>(value);
      case 0xce:
        return ReadUnsigned<std::uint32_t>(value);
      case 0xcf:
        return ReadUnsigned<std::uint64_t>(value);
      case 0xd0:
        return ReadSigned<std::int8_t>(value);
      case 0xd1:
        return ReadSigned<std::int16_t>(value);
      case 0xd2:
        return ReadSigned<std::int32_t>(value);
      case 0xd3:
        return ReadSigned<std::int64_t>(value);
      case 0xd4:
      case 0xd5:
      case 0xd6:
      case 0xd7:
      case 0xd8:
        return ReadExtension(value, std::uint32_t{1} << (type - 0xd4));
      case 0xd9:
        return ReadSized<std::uint8_t>(value, &Reader::ReadString);
      case 0xda:
        return ReadSized<std::uint16_t>(value, &Reader::ReadString);
      case 0xdb:
        return ReadSized<std::uint32_t>(value, &Reader::ReadString);
      case 0xdc:
        return ReadSized<std::uint16_t>(value, &Reader::ReadArray);
      case 0xdd:
        return ReadSized<std::uint32_t>(value, &Reader::ReadArray);
      case 0xde:
        return ReadSized<std::uint16_t>(value, &Reader::ReadMap);
      case 0xdf:
        return ReadSized<std::uint32_t>(value, &Reader::ReadMap);
      default:
        return Fail("parse error");
    }
  }

  // A size, and what has it.
  template <typename Size>
  bool ReadSized(msgpack::object& value, bool (Reader::*read)(msgpack::object&, std::uint32_t)) {
    Size size = 0;
    return Take(size) && (this->*read)(value, size);
  }

  template <typename Number>
  bool ReadUnsigned(msgpack::object& value) {
    Number number = 0;
    return Take(number) && SetUnsigned(value, number);
  }

  template <typename Number>
  bool ReadSigned(msgpack::object& value) {
    Number number = 0;
    return Take(number) && SetSigned(value, number);
  }

  template <typename Bits, typename Float>
  bool ReadFloat(msgpack::object& value, msgpack::type::object_type type) {
    Bits bits = 0;
    if (!Take(bits)) return false;
    value.type = type;
    value.via.f64 = std::bit_cast<Float>(bits);
    return true;
  }

  static bool SetUnsigned(msgpack::object& value, std::uint64_t number) {
    value.type = msgpack::type::POSITIVE_INTEGER;
    value.via.u64 = number;
    return true;
  }

  static bool SetSigned(msgpack::object& value, std::int64_t number) {
    if (number >= 0) return SetUnsigned(value, static_cast<std::uint64_t>(number));
    value.type = msgpack::type::NEGATIVE_INTEGER;
    value.via.i64 = number;
    return true;
  }

  bool Pass(std::size_t bytes) {
    if (rest_.size() < bytes) return Fail("insufficient bytes");
    rest_.remove_prefix(bytes);
    return true;
  }

  bool ReadString(msgpack::object& value, std::uint32_t bytes) {
    value.type = msgpack::type::STR;
    value.via.str.ptr = rest_.data();
    value.via.str.size = bytes;
    return Pass(bytes);
  }

  bool ReadBinary(msgpack::object& value, std::uint32_t bytes) {
    value.type = msgpack::type::BIN;
    value.via.bin.ptr = rest_.data();
    value.via.bin.size = bytes;
    return Pass(bytes);
  }

  // The byte before its data is its kind. MessagePack's pointer is to that byte.
  bool ReadExtension(msgpack::object& value, std::uint32_t bytes) {
    value.type = msgpack::type::EXT;
    value.via.ext.ptr = rest_.data();
    value.via.ext.size = bytes;
    return Pass(std::size_t{bytes} + 1);
  }

  bool ReadArray(msgpack::object& value, std::uint32_t size) {
    value.type = msgpack::type::ARRAY;
    value.via.array.size = size;
    return ReadElements(size, value.via.array.ptr);
  }

  bool ReadMap(msgpack::object& value, std::uint32_t size) {
    static_assert(sizeof(msgpack::object_kv) == 2 * sizeof(msgpack::object));
    msgpack::object* elements = nullptr;
    const bool good = ReadElements(2 * std::size_t{size}, elements);
    value.type = msgpack::type::MAP;
    value.via.map.size = size;
    value.via.map.ptr = reinterpret_cast<msgpack::object_kv*>(elements);
    return good;
  }

  // An element takes at least a byte. So no honest value claims more elements than it has bytes,
  // over all levels of nesting: a forged number cannot make us allocate.
  bool ReadElements(std::size_t count, msgpack::object*& elements) {
    if (count > claimable_) return Fail("more elements claimed than there are bytes");
    claimable_ -= count;
    if (depth_ == kNestingMax) return Fail("depth size overflow");
    ++depth_;
    elements = count == 0 ? nullptr : into_.MakeObjects(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (!Read(elements[i])) return false;
    }
    --depth_;
    return true;
  }

  std::string_view rest_;
  std::size_t claimable_;  // elements
  std::size_t depth_ = 0;
  const char* error_ = "";
  Unpacked& into_;
};

Unpacked::Unpacked(std::string_view bytes, std::string& error) {
  Reader reader(bytes, *this);
  if (!reader.Read(value_)) {
    error = std::string("the body is not MessagePack: ") + reader.error();
  } else if (!reader.rest().empty()) {
    error = "bytes after the body";
  } else {
    good_ = true;
  }
}

msgpack::object* Unpacked::MakeObjects(std::size_t count) {
  void* memory = nullptr;
  if (count <= first_.size() - used_) {
    memory = &first_[used_];
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

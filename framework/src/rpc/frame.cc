#include "depfast/host/frame.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "depfast/host/host.h"

namespace depfast {

const char* ToString(RpcError error) {
  switch (error) {
    case RpcError::kNone:
      return "no error";
    case RpcError::kTimedOut:
      return "timed out";
    case RpcError::kReleased:
      return "released";
    case RpcError::kUnknownMethod:
      return "unknown method";
    case RpcError::kMalformed:
      return "malformed message";
    case RpcError::kRejected:
      return "rejected";
  }
  return "unknown error";
}

namespace frame_internal {

constexpr std::size_t kHeaderFields = 6;
constexpr std::size_t kNestingMax = 16;
// Memory for unpacking a small body. MessagePack's own choice is 8 KiB, and malloc caches no blocks
// of that size: its allocation would take longer than the unpacking.
constexpr std::size_t kZoneBytesMin = 512;

void EncodeHeader(const FrameHeader& header, std::string& out) {
  StringSink sink(out);
  msgpack::packer<StringSink> packer(sink);
  packer.pack_array(kHeaderFields);
  packer.pack(kFrameVersion);
  packer.pack(static_cast<std::uint8_t>(header.kind));
  packer.pack(header.method);
  packer.pack(header.call);
  packer.pack(static_cast<std::uint8_t>(header.dependency.kind));
  packer.pack(header.dependency.id);
}

// Adds up the claimed numbers of elements of arrays and maps, over all levels of nesting. Stops
// when the sum exceeds the number of bytes.
class ElementCounter : public msgpack::null_visitor {
 public:
  explicit ElementCounter(std::size_t max) : left_(max) {}

  bool start_array(std::uint32_t elements) { return Claim(elements) && Enter(); }
  bool start_map(std::uint32_t pairs) { return Claim(2 * std::size_t{pairs}) && Enter(); }
  bool end_array() { return Leave(); }
  bool end_map() { return Leave(); }

  bool too_many() const { return too_many_; }

 private:
  bool Claim(std::size_t elements) {
    too_many_ = elements > left_;
    if (!too_many_) left_ -= elements;
    return !too_many_;
  }
  bool Enter() { return ++depth_ <= kNestingMax; }
  bool Leave() {
    --depth_;
    return true;
  }

  std::size_t left_;
  std::size_t depth_ = 0;
  bool too_many_ = false;
};

bool ClaimsTooMuch(std::string_view body) {
  // The limits below hold for each array on its own; nested, they multiply by the depth. For a
  // small body that is little memory, and not worth a pass of its own.
  constexpr std::size_t kSmallBytes = 4096;
  if (body.size() <= kSmallBytes) return false;
  ElementCounter counter(body.size());
  std::size_t used = 0;
  msgpack::parse(body.data(), body.size(), used, counter);
  return counter.too_many();
}

std::optional<msgpack::object_handle> UnpackBody(std::string_view body, std::string& error) {
  if (ClaimsTooMuch(body)) {
    error = "the body is not MessagePack: more elements claimed than there are bytes";
    return std::nullopt;
  }
  // An element takes at least a byte, so no honest body claims more elements than it has bytes:
  // a forged length cannot make us allocate.
  const msgpack::unpack_limit limit(body.size(), body.size(), body.size(), body.size(), body.size(),
                                    kNestingMax);
  const auto reference = [](msgpack::type::object_type, std::size_t, void*) { return true; };
  try {
    std::size_t used = 0;
    auto zone = std::make_unique<msgpack::zone>(
        std::clamp<std::size_t>(body.size(), kZoneBytesMin, MSGPACK_ZONE_CHUNK_SIZE));
    const msgpack::object object =
        msgpack::unpack(*zone, body.data(), body.size(), used, reference, nullptr, limit);
    if (used == body.size()) return msgpack::object_handle(object, std::move(zone));
    error = "bytes after the body";
  } catch (const msgpack::unpack_error& problem) {
    error = std::string("the body is not MessagePack: ") + problem.what();
  }
  return std::nullopt;
}

// Reads the unsigned integers of the header, without allocating.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view bytes) : bytes_(bytes) {}

  bool ReadArrayOfFields() { return ReadByte() == (0x90 | kHeaderFields); }

  std::uint64_t ReadUnsigned(std::uint64_t max) {
    const int first = ReadByte();
    std::uint64_t value = 0;
    if (first >= 0 && first <= 0x7f) {
      value = static_cast<std::uint64_t>(first);
    } else if (first >= 0xcc && first <= 0xcf) {  // uint 8, 16, 32, 64: big endian
      for (int left = 1 << (first - 0xcc); left > 0; --left) {
        value = value << 8 | static_cast<std::uint8_t>(std::max(ReadByte(), 0));
      }
    } else {
      good_ = false;
    }
    if (value > max) good_ = false;
    return value;
  }

  bool good() const { return good_; }
  std::string_view rest() const { return bytes_.substr(at_); }

 private:
  int ReadByte() {
    if (at_ >= bytes_.size()) {
      good_ = false;
      return -1;
    }
    return static_cast<std::uint8_t>(bytes_[at_++]);
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool good_ = true;
};

}  // namespace frame_internal

std::optional<DecodedFrame> DecodeFrame(std::string_view bytes, std::string& error) {
  constexpr auto k32 = std::numeric_limits<std::uint32_t>::max();
  constexpr auto k64 = std::numeric_limits<std::uint64_t>::max();
  if (bytes.size() > kMaxFrameBytes) {
    error = "the frame is larger than the limit";
    return std::nullopt;
  }
  frame_internal::HeaderReader reader(bytes);
  if (!reader.ReadArrayOfFields()) {
    error = "the header is not an array of six fields";
    return std::nullopt;
  }
  const auto version = reader.ReadUnsigned(k32);
  DecodedFrame frame;
  frame.header.kind = static_cast<FrameKind>(reader.ReadUnsigned(2));
  frame.header.method = static_cast<MethodId>(reader.ReadUnsigned(k32));
  frame.header.call = reader.ReadUnsigned(k64);
  frame.header.dependency.kind = static_cast<Dependency::Kind>(reader.ReadUnsigned(2));
  frame.header.dependency.id = reader.ReadUnsigned(k64);
  if (!reader.good()) {
    error = "a header field is missing or out of range";
    return std::nullopt;
  }
  if (version != kFrameVersion) {
    error = "unknown frame version " + std::to_string(version);
    return std::nullopt;
  }
  frame.body = reader.rest();
  return frame;
}

}  // namespace depfast

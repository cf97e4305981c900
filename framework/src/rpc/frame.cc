#include "depfast/host/frame.h"

#include <algorithm>
#include <array>
#include <limits>
#include <msgpack.hpp>

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

// A header's bytes on the stack: they go into the frame at once.
class HeaderSink {
 public:
  void write(const char* data, std::size_t size) {
    std::copy_n(data, size, bytes_.data() + size_);
    size_ += size;
  }

  std::string_view written() const { return {bytes_.data(), size_}; }

 private:
  static constexpr std::size_t kFieldBytesMax = 9;

  std::array<char, 1 + kHeaderFields * kFieldBytesMax> bytes_;
  std::size_t size_ = 0;
};

void EncodeHeader(const FrameHeader& header, std::string& out) {
  HeaderSink sink;
  msgpack::packer<HeaderSink> packer(sink);
  packer.pack_array(kHeaderFields);
  packer.pack(kFrameVersion);
  packer.pack(static_cast<std::uint8_t>(header.kind));
  packer.pack(header.method);
  packer.pack(header.call);
  packer.pack(static_cast<std::uint8_t>(header.dependency.kind));
  packer.pack(header.dependency.id);
  out += sink.written();
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

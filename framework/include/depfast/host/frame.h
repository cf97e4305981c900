// Frame: one RPC message as bytes. A header and a body, both MessagePack.
//
// MessagePack describes itself. A tool can print any frame without its schema, and a reader in
// another language is one line. The header is an array of six integers: [version, kind, method,
// call, dependency kind, dependency id]. The body is one MessagePack value.
#pragma once

#include <cstdint>
#include <msgpack.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "depfast/dependency.h"
#include "depfast/host/unpacked.h"
#include "depfast/rpc_error.h"

namespace depfast {

using MethodId = std::uint32_t;
using CallId = std::uint64_t;

// The meaning of a frame for its receiver.
enum class FrameKind : std::uint8_t {
  kRequest = 0,
  kReply = 1,
  kError = 2,  // the body is an RpcError
};

// The meaning of the body, and the call that it belongs to.
struct FrameHeader {
  FrameKind kind = FrameKind::kRequest;
  MethodId method = 0;
  CallId call = 0;
  Dependency dependency;
};

inline constexpr std::uint32_t kFrameVersion = 1;

// A frame that has been checked: the header, and the bytes of the body (a view into the frame).
struct DecodedFrame {
  FrameHeader header;
  std::string_view body;
};

namespace frame_internal {

// A string as the output of msgpack::packer.
class StringSink {
 public:
  explicit StringSink(std::string& out) : out_(out) {}
  void write(const char* data, std::size_t size) { out_.append(data, size); }

 private:
  std::string& out_;
};

// Most frames fit: they are allocated once, not again and again as they grow.
inline constexpr std::size_t kUsualFrameBytes = 512;

void EncodeHeader(const FrameHeader& header, std::string& out);

// Fields of a type with MSGPACK_DEFINE. MessagePack's own decoder fills missing fields
// with defaults, which would turn a truncated request into a valid one.
template <typename Body>
std::uint32_t FieldsOf() {
  static const std::uint32_t fields = [] {
    std::string bytes;
    StringSink sink(bytes);
    msgpack::pack(sink, Body{});
    return msgpack::unpack(bytes.data(), bytes.size()).get().via.array.size;
  }();
  return fields;
}

template <typename Body>
concept HasFields =
    requires(const Body& body, msgpack::packer<StringSink>& packer) { body.msgpack_pack(packer); };

}  // namespace frame_internal

// Appends the encoded frame. Body: anything with MSGPACK_DEFINE.
template <typename Body>
void AppendFrame(const FrameHeader& header, const Body& body, std::string& out) {
  frame_internal::EncodeHeader(header, out);
  frame_internal::StringSink sink(out);
  msgpack::pack(sink, body);
}

// Returns the encoded frame.
template <typename Body>
std::string EncodeFrame(const FrameHeader& header, const Body& body) {
  std::string bytes;
  bytes.reserve(frame_internal::kUsualFrameBytes);
  AppendFrame(header, body, bytes);
  return bytes;
}

// Checks and splits a frame. Returns nothing for a malformed one, with the reason in `error`. Never
// throws and never reads outside `bytes`, for any bytes.
std::optional<DecodedFrame> DecodeFrame(std::string_view bytes, std::string& error);

// Decodes a body of a known type. Same errors as DecodeFrame.
template <typename Body>
std::optional<Body> DecodeBody(std::string_view bytes, std::string& error) {
  const frame_internal::Unpacked unpacked(bytes, error);
  if (!unpacked) return std::nullopt;
  if constexpr (frame_internal::HasFields<Body>) {
    const msgpack::object& object = unpacked.get();
    if (object.type != msgpack::type::ARRAY ||
        object.via.array.size != frame_internal::FieldsOf<Body>()) {
      error = "the body has the wrong number of fields";
      return std::nullopt;
    }
  }
  try {
    return unpacked.get().as<Body>();
  } catch (const msgpack::type_error&) {
    error = "a field of the body has the wrong type";
    return std::nullopt;
  }
}

}  // namespace depfast

// Frame: one RPC message as bytes. A header and a body, both MessagePack.
//
// MessagePack describes itself. A tool can print any frame without its schema, and a reader in
// another language is one line. The header is an array of six integers: [version, kind, method,
// call, dependency kind, dependency id]. The body is one MessagePack value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "depfast/dependency.h"
#include "depfast/fields.h"
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

}  // namespace frame_internal

// Appends the encoded body. Body: anything with DEPFAST_FIELDS, and what MessagePack can encode.
// Defined in depfast/host/codec.h, as DecodeBody is.
template <typename Body>
void AppendBody(const Body& body, std::string& out);

// Returns the encoded frame.
template <typename Body>
std::string EncodeFrame(const FrameHeader& header, const Body& body) {
  std::string bytes;
  bytes.reserve(frame_internal::kUsualFrameBytes);
  frame_internal::EncodeHeader(header, bytes);
  AppendBody(body, bytes);
  return bytes;
}

// Checks and splits a frame. Returns nothing for a malformed one, with the reason in `error`. Never
// throws and never reads outside `bytes`, for any bytes.
std::optional<DecodedFrame> DecodeFrame(std::string_view bytes, std::string& error);

// Decodes a body of a known type. Same errors as DecodeFrame.
template <typename Body>
std::optional<Body> DecodeBody(std::string_view bytes, std::string& error);

}  // namespace depfast

#include "kv_messages.h"

namespace depfast::kv {
namespace {

// The most that MessagePack adds to a string or an array.
constexpr std::size_t kLengthBytesMax = 5;

// `bytes_max`: about the largest size of the result; the string reserves it.
template <typename Body>
std::string Encode(const Body& body, std::size_t bytes_max) {
  std::string bytes;
  bytes.reserve(bytes_max);
  frame_internal::StringSink sink(bytes);
  msgpack::pack(sink, body);
  return bytes;
}

template <typename Body>
std::optional<Body> Decode(std::string_view bytes) {
  std::string error;
  return DecodeBody<Body>(bytes, error);
}

}  // namespace

std::string EncodeCommand(const Command& command) {
  std::size_t bytes_max = kLengthBytesMax;
  for (const std::string& word : command) bytes_max += kLengthBytesMax + word.size();
  return Encode(command, bytes_max);
}

std::optional<Command> DecodeCommand(std::string_view bytes) { return Decode<Command>(bytes); }

std::string EncodeReply(const Reply& reply) { return Encode(reply, reply.text.size()); }

std::optional<Reply> DecodeReply(std::string_view bytes) { return Decode<Reply>(bytes); }

}  // namespace depfast::kv

#include "kv_messages.h"

namespace depfast::kv {
namespace {

template <typename Body>
std::string Encode(const Body& body) {
  std::string bytes;
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

std::string EncodeCommand(const Command& command) { return Encode(command); }
std::optional<Command> DecodeCommand(std::string_view bytes) { return Decode<Command>(bytes); }
std::string EncodeReply(const Reply& reply) { return Encode(reply); }
std::optional<Reply> DecodeReply(std::string_view bytes) { return Decode<Reply>(bytes); }

}  // namespace depfast::kv

#include "kv_messages.h"

#include <cstdint>

#include "depfast/host/codec.h"
#include "kv_audit.h"

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

// Takes a text of up to 255 bytes from the front of some MessagePack. Empty if there is none.
std::string_view TakeText(std::string_view& bytes) {
  constexpr std::uint8_t kFixStr = 0xa0;  // and the size, up to 31
  constexpr std::uint8_t kFixStrLast = 0xbf;
  constexpr std::uint8_t kStr8 = 0xd9;  // the size follows
  if (bytes.size() < 2) return {};
  const auto first = static_cast<std::uint8_t>(bytes[0]);
  const bool is_fix = first >= kFixStr && first <= kFixStrLast;
  if (!is_fix && first != kStr8) return {};
  const std::size_t header = is_fix ? 1 : 2;
  const std::size_t size = is_fix ? first - kFixStr : static_cast<std::uint8_t>(bytes[1]);
  if (bytes.size() < header + size) return {};
  const std::string_view text = bytes.substr(header, size);
  bytes.remove_prefix(header + size);
  return text;
}

}  // namespace

std::string EncodeCommand(const Command& command) {
  std::size_t bytes_max = kLengthBytesMax;
  for (const std::string& word : command) bytes_max += kLengthBytesMax + word.size();
  return Encode(command, bytes_max);
}

std::optional<Command> DecodeCommand(std::string_view bytes) { return Decode<Command>(bytes); }

std::string_view FirstKeyIn(std::string_view bytes) {
  if (bytes.empty()) return {};
  bytes.remove_prefix(1);  // the number of words, up to 15
  const std::string_view name = TakeText(bytes);
  return name.empty() ? name : TakeText(bytes);
}

std::string EncodeReply(const Reply& reply) { return Encode(reply, reply.text.size()); }

std::optional<Reply> DecodeReply(std::string_view bytes) { return Decode<Reply>(bytes); }

}  // namespace depfast::kv

DEPFAST_REPLY(depfast::kv::KvAuditReply)
DEPFAST_REPLY(depfast::kv::KvRestoreReply)
DEPFAST_REPLY(depfast::kv::KvExecuteReply)
DEPFAST_REPLY(depfast::kv::Reply)
DEPFAST_REQUEST(depfast::kv::KvAudit)
DEPFAST_REQUEST(depfast::kv::KvRestore)
DEPFAST_REQUEST(depfast::kv::KvExecute)
DEPFAST_REQUEST(depfast::kv::KvRequest)

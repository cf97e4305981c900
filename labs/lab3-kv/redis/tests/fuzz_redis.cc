// libFuzzer entry: for any bytes of a client, cut into any two packets, the conversation sends the
// same requests and the same output, and ends only where it must. Built with -DFAILSLOW_FUZZ=ON and
// clang.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "redis_conversation.h"

namespace {

using depfast::kv::RedisConversation;
using depfast::kv::Reply;

struct Heard {
  std::vector<std::string> requests;
  std::string output;
  bool is_over = false;
  friend bool operator==(const Heard&, const Heard&) = default;
};

void Require(bool condition) {
  if (!condition) std::abort();
}

// A store that answers at once: a number for every key.
void Serve(RedisConversation& conversation, Heard& heard) {
  while (conversation.HasRequests()) {
    for (const auto& [call, request] : conversation.TakeRequests()) {
      Require(!request.command.empty());
      heard.requests.push_back(request.command[0]);
      const bool reads = request.command[0] == "GET";
      conversation.OnReply(call, reads ? Reply::String("1") : Reply::Integer(1));
    }
  }
}

Heard Listen(std::string_view bytes, std::size_t first) {
  RedisConversation conversation{{}};
  Heard heard;
  for (const std::string_view packet : {bytes.substr(0, first), bytes.substr(first)}) {
    if (!conversation.IsOver()) conversation.OnBytes(packet);
    Serve(conversation, heard);
  }
  Require(conversation.IsIdle());
  heard.output = conversation.TakeOutput();
  heard.is_over = conversation.IsOver();
  Require(heard.output.empty() || heard.output.ends_with("\r\n"));
  return heard;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t first = data[size - 1] % size;
  Require(Listen(bytes, first) == Listen(bytes, size));
  return 0;
}

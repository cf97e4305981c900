// Everything that a conversation makes of a client's bytes: a fuzzer compares it for other packets.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "redis_conversation.h"

namespace depfast::kv {

struct Heard {
  std::vector<Command> requests;
  std::string output;
  bool is_over = false;
  bool is_idle = false;

  friend bool operator==(const Heard&, const Heard&) = default;
};

// `bytes` to a conversation, in packets of `next_size()` bytes. The store answers each command at
// once, as the contract says.
template <typename NextSize>
Heard Listen(std::string_view bytes, const NextSize& next_size) {
  RedisConversation conversation{{}};
  Heard heard;
  while (!bytes.empty() && !conversation.IsOver()) {
    const std::string_view packet = bytes.substr(0, next_size());
    conversation.OnBytes(packet);
    bytes.remove_prefix(packet.size());
    while (conversation.HasRequests()) {
      for (const auto& [call, request] : conversation.TakeRequests()) {
        heard.requests.push_back(request.command);
        const bool reads = request.command.at(0) == "GET";
        conversation.OnReply(call, reads ? Reply::String("41") : Reply::Integer(1));
      }
    }
  }
  heard.output = conversation.TakeOutput();
  heard.is_over = conversation.IsOver();
  heard.is_idle = conversation.IsIdle();
  return heard;
}

}  // namespace depfast::kv

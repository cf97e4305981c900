// Conversation: counts one replica's refusals of AppendEntries, and what is sent to it.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "depfast/host/frame.h"
#include "raft_messages.h"
#include "raft_world.h"

namespace depfast::raft {

class Conversation : private sim::Observer {
 public:
  Conversation(RaftWorld& world, PeerId replica) : replica_(replica) {
    world.cluster.simulator().AddObserver(this);
  }

  int refusals() const { return refusals_; }
  int messages_to_it() const { return messages_to_it_; }
  std::size_t bytes_to_it() const { return bytes_to_it_; }

 private:
  void OnOutputsLeave(PeerId from, Time, const std::vector<sim::Output>& outputs) override {
    for (const sim::Output& output : outputs) {
      const auto* frame = std::get_if<sim::SendFrame>(&output);
      if (frame == nullptr) continue;
      if (from == replica_) refusals_ += IsRefusal(*frame->bytes) ? 1 : 0;
      if (frame->to != replica_) continue;
      ++messages_to_it_;
      bytes_to_it_ += frame->bytes->size();
    }
  }

  static bool IsRefusal(const std::string& bytes) {
    std::string error;
    const auto frame = DecodeFrame(bytes, error);
    if (!frame || frame->header.kind != FrameKind::kReply) return false;
    if (frame->header.method != AppendEntries::kMethod) return false;
    const auto reply = DecodeBody<AppendEntriesReply>(frame->body, error);
    return reply && !reply->success;
  }

  const PeerId replica_;
  int refusals_ = 0;
  int messages_to_it_ = 0;
  std::size_t bytes_to_it_ = 0;
};

}  // namespace depfast::raft

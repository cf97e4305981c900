// RedisConversation: one Redis client's connection to a replica.
//
// Commands become requests (kv_messages.h), several at a time if the client does not wait for its
// replies. The replies come back in the order of the commands, even if a later one is ready first.
// Reads do not go through the log, so a read could overtake an earlier write of the same client.
// Therefore a command that reads waits until no write is under way, and a write until no read is.
//
// A connection is no session: a client that loses it does not know which of its commands were
// executed. A client that must know uses SESSION.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kv_messages.h"
#include "real/foreign_protocol.h"
#include "resp_parser.h"

namespace depfast::kv {

class RedisConversation final : public real::Conversation {
 public:
  explicit RedisConversation(const real::ForeignContext& context) : context_(context) {}

  void OnBytes(std::string_view bytes) override;
  void OnFrame(std::string_view frame) override;
  std::vector<std::string> TakeFrames() override;
  bool HasFrames() const override { return !frames_.empty(); }
  std::string TakeOutput() override;
  bool WantsBytes() const override;
  bool IsIdle() const override { return slots_.empty() && !held_back_; }
  bool IsOver() const override { return closing_ && slots_.empty(); }

 private:
  void TakeCommands();
  // True if the command was sent (and taken) or answered; false if it has to wait.
  bool TryServe(Command& command);
  void Ask(Command command);
  void Answer(const Reply& reply);
  void Close(const Reply& last);
  void MoveToOutput();
  // The reply to a command that needs no replica's store.
  std::optional<Reply> ServeHere(const Command& command);
  Reply Info() const;

  const real::ForeignContext context_;
  RespParser parser_;
  std::optional<Command> held_back_;  // the next command, which has to wait
  std::vector<std::string> frames_;
  // The replies that the client waits for, in order. A reply that has not come is empty. The first
  // is that of call `first_call_`. The calls of commands that need no replica are not used.
  std::deque<std::optional<std::string>> slots_;
  std::uint64_t first_call_ = 1;
  std::size_t asked_ = 0;       // of slots_, those that wait for the replica
  bool asked_to_read_ = false;  // all of them read; meaningless if there are none
  std::string output_;
  bool closing_ = false;  // nothing more is served
};

}  // namespace depfast::kv

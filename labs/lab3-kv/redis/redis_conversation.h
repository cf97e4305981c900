// RedisConversation: one Redis client's connection to a replica.
//
// Commands become requests (kv_messages.h), several at a time if the client does not wait for its
// replies. The replies come back in the order of the commands, even if a later one is ready first.
// Reads do not go through the log, so a read could overtake an earlier write of the same client.
// Therefore a command that reads waits until no write is under way, and a write until no read is.
//
// The port answers some commands by itself (port_commands.h), and makes others of several commands
// of the store (increment.h). Such a command runs alone: it waits for all before it, and all after
// it wait. A web browser that is led to the port by a page is not served: see IsOfBrowsers.
//
// There are no transactions. A client library sends a whole transaction before it reads a reply, so
// an error to MULTI alone would not keep the commands behind it from being executed. They are
// refused, too, up to EXEC or DISCARD.
//
// The replica holds a bounded number of bytes for a client: requests without an answer, and answers
// that the client has not taken. Nobody knows how long the answer to a read will be. So the
// conversation expects an answer like the largest of the latest. It begins a read only if all
// expected answers have room. An answer that comes and has no room is forgotten, with those to all
// reads behind it. The reads are asked again once earlier answers have left. Asking again does no
// harm, and it keeps the order. The answer to a write cannot be asked for again, so the longest
// possible answer has room before the write is sent.
//
// Parts of commands, of which the rest has not come, have a limit over all clients. A client that
// exceeds it is sent an error, and its connection ends: nothing of the command is executed.
//
// While the replica is out of service (ClientContext::disk_failure), the port's own commands are
// answered, INFO with the reason, and those of the store with an error.
//
// A connection is no session: a client that loses it does not know which of its commands were
// executed. A client that must know uses SESSION.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "depfast/rpc.h"
#include "increment.h"
#include "kv_messages.h"
#include "port_commands.h"
#include "real/client_protocol.h"
#include "resp_parser.h"
#include "resp_writer.h"

namespace depfast::kv {

class RedisConversation final : public real::Conversation,
                                public LocalClient<Reply>,
                                public std::enable_shared_from_this<RedisConversation> {
 public:
  struct Request {
    CallId call = 0;
    KvRequest request;
  };

  // The limit of the bytes held for one client. A single command or answer may be larger, and is
  // then alone.
  static constexpr std::size_t kHeldBytesMax = std::size_t{8} << 20;
  // The reads that a new connection may have under way: nothing is known of their answers.
  static constexpr std::size_t kFirstReadsMax = 16;

  // The bytes of an unfinished command that every client may send, whatever the others have sent.
  static constexpr std::size_t kUnfinishedBytesMin = std::size_t{64} << 10;

  explicit RedisConversation(const real::ClientContext& context)
      : context_(context), unfinished_(context.unfinished), held_(context.budget) {}

  void OnBytes(std::string_view bytes) override;
  void OnReply(CallId call, const Reply& reply) override;
  // The outcome of the command is unknown.
  void OnError(CallId call, RpcError error) override;
  std::size_t SendRequests(Rpc* replica) override;
  bool HasRequests() const override { return !requests_.empty(); }
  // The requests that have become ready since the last call, in order. They are the caller's to
  // send.
  std::vector<Request> TakeRequests() { return std::exchange(requests_, {}); }
  std::string TakeOutput() override;
  void OnRoom(std::size_t bytes) override;
  bool WantsBytes() const override;
  bool WaitsForOthers() const override { return waits_for_others_; }
  bool IsIdle() const override { return slots_.empty() && !held_back_; }
  bool IsOver() const override { return closing_ && slots_.empty(); }

 private:
  // A reply that the client waits for.
  struct Slot {
    Protocol protocol = Protocol::kResp2;   // the client's when it sent the command
    std::optional<std::string> bytes = {};  // nothing: the reply has not come
    CallId call = 0;                        // 0: no call is under way
    Command read = {};                      // a read, to be asked again; else empty
    std::size_t reserved = 0;  // of held_: the request, and room for the reply to a write
  };

  // Serves what the parser holds, up to a command that has to wait, or to an error in the bytes.
  void TakeCommands();
  // Counts the part of a command that has come. Without room for it, the client gets an error.
  void CountUnfinished();
  // Asks again for the reads whose answers were forgotten. False if some have to wait.
  bool AskAgain();
  // The next command that is not too large, if a whole one has come. Answers those that are.
  std::optional<Command> NextCommand();
  // True if the command was sent (and taken) or answered; false if it has to wait.
  bool TryServe(Command& command);
  // The reply to a command of a transaction, which is refused; nothing if it is of none.
  std::optional<Reply> RefuseTransaction(const Command& command);
  // Serves a command that the port does not answer by itself. Requires: no increment_.
  bool TryStore(Command& command);
  bool TryIncrement(const Command& command);
  void Ask(Command command);
  void Send(std::size_t slot, Command command);
  void Answer(const Reply& reply);
  void Answer(std::string bytes);
  // Fills the slot, or takes the next step of the increment. Requires: the slot waits.
  void TakeReply(std::size_t slot, const Reply& reply);
  // Learns from the answer to a read.
  void Expect(Reply::Kind kind, std::size_t bytes);
  void Fill(Slot& slot, std::string bytes);
  void MoveToOutput();

  // Whether `bytes` more may be held or expected. Always if there is nothing of the client's yet.
  bool HasRoomFor(std::size_t bytes);
  // The bytes that answers under way may need, beyond those in held_.
  std::size_t expected() const { return asked_to_read_ ? asked_ * expected_reply_ : 0; }
  // Whether an answer of these bytes can be kept.
  bool CanKeep(std::size_t bytes) const;
  void Forget(std::size_t from);

  const real::ClientContext context_;
  ClientState client_;
  RespParser parser_;
  real::HeldBytes unfinished_;        // of parser_, above kUnfinishedBytesMin
  std::optional<Command> held_back_;  // the next command, which has to wait
  std::vector<Request> requests_;
  // In the order of the commands. The low bits of a call are the number of its slot; those of
  // commands that need no replica are not used. The high bits count how often the conversation has
  // forgotten answers, so that a late one is no answer to the same command asked again.
  std::deque<Slot> slots_;
  std::uint64_t first_slot_ = 1;
  std::uint64_t forgotten_ = 0;
  std::size_t to_ask_again_ = 0;  // of slots_
  std::size_t asked_ = 0;         // of slots_, those that wait for the replica
  bool asked_to_read_ = false;    // all of them read; meaningless if there are none
  // The increment under way: then slots_ is its slot alone, and nothing after it is looked at.
  std::optional<Increment> increment_;
  std::string output_;
  real::HeldBytes held_;     // what slots_ reserve, and the answers that the kernel has not taken
  std::size_t answers_ = 0;  // of held_, the answers
  std::size_t expected_reply_ = kHeldBytesMax / kFirstReadsMax;  // to a read
  bool waits_for_others_ = false;  // a command waits, and the budget has no room for it
  bool in_transaction_ = false;    // MULTI was refused, and neither EXEC nor DISCARD has come
  bool closing_ = false;           // nothing more is served
};

}  // namespace depfast::kv

// A foreign protocol, such as Redis's, that clients speak on a port of its own.
//
// The replica's code knows frames only. A Conversation stands between one client's connection and
// the replica. It turns the client's bytes into request frames, and the replica's reply frames into
// bytes. So the replica serves such a client like any other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "depfast/host/host.h"
#include "real/byte_budget.h"
#include "real/frame_batch.h"

namespace depfast::real {

class Conversation {
 public:
  virtual ~Conversation() = default;

  // The client has sent `bytes`. Malformed bytes are answered with an error; they never throw.
  virtual void OnBytes(std::string_view bytes) = 0;

  // The replica has sent a frame to the client.
  virtual void OnFrame(std::string_view frame) = 0;

  // Gives `into`, which is empty, the frames for the replica that OnBytes and OnFrame have made
  // ready since the last call, in order. The conversation may keep the memory of `into`.
  virtual void TakeFrames(FrameBatch& into) = 0;
  // TakeFrames would give at least one frame.
  virtual bool HasFrames() const = 0;

  // Bytes for the client that have become ready since the last call.
  virtual std::string TakeOutput() = 0;

  // The kernel has taken `bytes` more of the output. Or the bytes that all connections hold have
  // become fewer: then 0.
  virtual void OnRoom(std::size_t bytes) = 0;

  // False while the client has its maximum of commands or bytes under way: what it sends stays in
  // the kernel.
  virtual bool WantsBytes() const = 0;

  // The conversation would go on if the other connections held less (ForeignContext::budget).
  virtual bool WaitsForOthers() const = 0;

  // Every answer that the client expects is in the output.
  virtual bool IsIdle() const = 0;

  // The conversation has ended. The connection is closed once the output is written, and OnBytes is
  // not called any more.
  virtual bool IsOver() const = 0;
};

// Facts about the replica and the connection that a conversation may report to its client.
struct ForeignContext {
  PeerId replica = 0;
  std::uint16_t port = 0;       // the port that the client has connected to
  std::int64_t connection = 0;  // its number at this port since the replica's start, from 1
  // The disk operation that failed, in words: then the replica is out of service, and no frame for
  // it arrives. Empty while it serves. Null: it always does. Outlives the conversation.
  const std::string* disk_failure = nullptr;
  // Of the port's connections. A conversation counts in it what it holds: requests without an
  // answer, and answers that the kernel has not taken. Null: there is no limit. Outlives the
  // conversation.
  ByteBudget* budget = nullptr;
};

// A protocol. Programs use its name, such as "redis", in their flags.
struct ForeignProtocol {
  std::string name;
  std::function<std::unique_ptr<Conversation>(const ForeignContext&)> make_conversation;
};

}  // namespace depfast::real

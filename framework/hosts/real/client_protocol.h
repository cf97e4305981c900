// A protocol of clients, such as Redis's, which has a port of its own.
//
// A Conversation stands between one client's connection and the replica. It turns the client's
// bytes into requests, and the replica's replies into bytes. The replica serves such a client like
// any other. But client and replica share a process, so requests and replies are passed on as they
// are: a read spends a sixth of its processor time on frames otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "depfast/host/host.h"
#include "depfast/rpc.h"
#include "real/byte_budget.h"

namespace depfast::real {

class Conversation {
 public:
  virtual ~Conversation() = default;

  // The client has sent `bytes`. Malformed bytes are answered with an error; they never throw.
  virtual void OnBytes(std::string_view bytes) = 0;

  // Sends the requests that have become ready since the last call, in order (Rpc::ServeLocally).
  // Null: the replica is out of service, and they are dropped. Returns their number.
  virtual std::size_t SendRequests(Rpc* replica) = 0;
  // SendRequests would send at least one.
  virtual bool HasRequests() const = 0;

  // Bytes for the client that have become ready since the last call.
  virtual std::string TakeOutput() = 0;

  // The kernel has taken `bytes` more of the output. Or the bytes that all connections hold have
  // become fewer: then 0.
  virtual void OnRoom(std::size_t bytes) = 0;

  // False while the client has its maximum of commands or bytes under way: what it sends stays in
  // the kernel.
  virtual bool WantsBytes() const = 0;

  // The conversation would go on if the other connections held less (ClientContext::budget).
  virtual bool WaitsForOthers() const = 0;

  // Every answer that the client expects is in the output.
  virtual bool IsIdle() const = 0;

  // The conversation has ended. The connection is closed once the output is written, and OnBytes is
  // not called any more.
  virtual bool IsOver() const = 0;
};

// Facts about the replica and the connection that a conversation may report to its client.
struct ClientContext {
  PeerId replica = 0;
  PeerId client = 0;            // the connection as a peer of the replica
  std::uint16_t port = 0;       // the port that the client has connected to
  std::int64_t connection = 0;  // its number at this port since the replica's start, from 1
  // The conversation calls it when the replica has answered a request.
  std::function<void()> on_answer = [] {};
  // The disk operation that failed, in words: then the replica is out of service, and no request
  // reaches it. Empty while it serves. Null: it always does. Outlives the conversation.
  const std::string* disk_failure = nullptr;
  // The budget of the port's connections. A conversation counts its own bytes in it: requests
  // without an answer, and answers that the kernel has not taken. Null: there is no limit. Outlives
  // the conversation.
  ByteBudget* budget = nullptr;
  // The limit for commands of which a part has come. A client that never sends the rest must not
  // take the room of the answers.
  ByteBudget* unfinished = nullptr;
};

// A protocol. Programs use its name, such as "redis", in their flags.
struct ClientProtocol {
  std::string name;
  std::function<std::shared_ptr<Conversation>(const ClientContext&)> make_conversation;
};

}  // namespace depfast::real

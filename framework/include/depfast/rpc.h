// RPC between replicas: typed requests and replies.
//
// A request type names its method and its reply:
//
//   struct VoteReply { std::uint64_t term; bool granted; DEPFAST_FIELDS(term, granted) };
//   struct VoteRequest {
//     using Reply = VoteReply;
//     static constexpr MethodId kMethod = 1;
//     static constexpr const char* kName = "RequestVote";
//     std::uint64_t term; ...
//     DEPFAST_FIELDS(term, ...)
//   };
//
// One source instantiates the code of each message: see depfast/host/codec.h.
//
// A call is asynchronous and returns an RpcEvent at once. A reply is matched to its event without
// creating a coroutine (document 002, section 3.2.1). A reply that nobody waits for is dropped.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "depfast/dependency.h"
#include "depfast/fields.h"
#include "depfast/host/rpc_table.h"
#include "depfast/rpc_event.h"
#include "depfast/time.h"

namespace depfast {

// A client in the replica's own process, such as a port for another protocol. It gets replies as
// they are, not as frames.
template <typename ReplyType>
class LocalClient {
 public:
  virtual void OnReply(CallId call, const ReplyType& reply) = 0;
  virtual void OnError(CallId call, RpcError error) = 0;

 protected:
  ~LocalClient() = default;
};

// Answers one request later, for handlers that queue requests and serve many in one coroutine.
// Copyable; only the first Send counts. Without a Send the caller waits until its timeout.
template <typename ReplyType>
class Responder {
 public:
  Responder(RpcTable* table, PeerId peer, const FrameHeader& request)
      : table_(table), peer_(peer), request_(request) {}
  // To a client in this process.
  Responder(RpcTable* table, PeerId peer, const FrameHeader& request,
            std::weak_ptr<LocalClient<ReplyType>> client)
      : table_(table),
        peer_(peer),
        request_(request),
        is_local_(true),
        client_(std::move(client)) {}

  void Send(const ReplyType& reply) const;

  PeerId peer() const { return peer_; }
  const Dependency& dependency() const { return request_.dependency; }

 private:
  RpcTable* table_;
  PeerId peer_;
  FrameHeader request_;
  bool is_local_ = false;
  std::weak_ptr<LocalClient<ReplyType>> client_;  // it may be gone when the reply comes
};

// One replica's calls to others, and its handlers for theirs.
class Rpc : public RpcTable {
 public:
  using RpcTable::RpcTable;

  // Sends `request` to `peer`. The event is ready with the reply, or fails with an error, kTimedOut
  // after `timeout` at the latest; its frame is dropped then if it still waits to be sent. The call
  // carries the running coroutine's dependency.
  template <typename Request>
  std::shared_ptr<RpcEvent<typename Request::Reply>> Call(PeerId peer, const Request& request,
                                                          Duration timeout = kForever);

  // Sends one request to each peer: encoded once, one buffer shared by all. The peers' events come
  // in the order of `peers`. Most callers use a Broadcast instead.
  template <typename Request>
  std::vector<std::shared_ptr<RpcEvent<typename Request::Reply>>> CallAll(
      const std::vector<PeerId>& peers, const Request& request, Duration timeout = kForever);

  // Serves a method: `handler(from, request)` runs in a coroutine of its own, may wait, and returns
  // the reply. It may take the request as a const&, or move it away. A std::exception that leaves
  // it answers kRejected. Throws std::logic_error if the method has a handler already, as does
  // HandleInline.
  template <typename Request>
  void Handle(std::function<typename Request::Reply(PeerId, Request&&)> handler);

  // Serves a method without a coroutine: `handler(request, responder)` must not wait. It may move
  // the request away, too. A std::exception answers kRejected.
  template <typename Request>
  void HandleInline(std::function<void(Request&&, Responder<typename Request::Reply>)> handler);

  // Serves a request of a client in this process, at once: the handler of HandleInline gets it as
  // it is. `client` gets the reply, or an error, unless it is gone then.
  template <typename Request>
  void ServeLocally(PeerId from, CallId call, Request request,
                    const std::weak_ptr<LocalClient<typename Request::Reply>>& client);

  // Gives a call up: its frame is dropped if it is not on the wire yet, its reply ignored, and the
  // event fails with kReleased. Does nothing to a call that is decided.
  void Release(RpcCall& call) { RpcTable::Release(call); }

 private:
  template <typename Request>
  using InlineHandler = std::function<void(Request&&, Responder<typename Request::Reply>)>;

  template <typename Request>
  Bytes EncodeRequest(const Request& request, CallId call) const;
  template <typename Request>
  std::shared_ptr<RpcEvent<typename Request::Reply>> Start(PeerId peer, CallId call,
                                                           const CarriedEntries& carried,
                                                           const Bytes& bytes, Duration timeout);
};

}  // namespace depfast

// RPC between replicas: typed requests and replies over Host::Send.
//
// A request type names its method and its reply:
//
//   struct VoteReply { std::uint64_t term; bool granted; MSGPACK_DEFINE(term, granted) };
//   struct VoteRequest {
//     using Reply = VoteReply;
//     static constexpr MethodId kMethod = 1;
//     static constexpr const char* kName = "RequestVote";
//     std::uint64_t term; ...
//     MSGPACK_DEFINE(term, ...)
//   };
//
// A call is asynchronous and returns an RpcEvent at once. A reply is matched to its event without
// creating a coroutine (document 002, section 3.2.1); a reply that nobody waits for is dropped.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "depfast/dependency.h"
#include "depfast/event.h"
#include "depfast/host/frame.h"
#include "depfast/host/host.h"

namespace depfast {

class Rpc;

// A call in flight, whatever its reply type.
class RpcCall : public Event {
 public:
  RpcCall(PeerId peer, const char* name) : peer_(peer), name_(name) {}

  PeerId peer() const { return peer_; }

  // Why the call failed; kNone while it has not.
  RpcError error() const { return error_; }

  bool IsReady() const override { return answered_; }
  bool IsFailed() const override { return error_ != RpcError::kNone; }
  const char* Label() const override { return name_; }
  int WaitsOnPeer() const override { return peer_; }
  std::string Describe() const override;

 protected:
  // Decodes the reply. Returns false if it is malformed, with the reason in `error`.
  virtual bool DecodeReply(std::string_view body, std::string& error) = 0;

 private:
  friend class Rpc;
  void Answer(std::string_view body, std::string& error);
  void Fail(RpcError error);

  PeerId peer_;
  const char* name_;
  CallId call_ = 0;
  FrameId frame_ = 0;
  std::uint64_t timer_ = 0;  // of the timeout, while the call is outstanding; 0 if it has none
  bool answered_ = false;
  RpcError error_ = RpcError::kNone;
};

// A call in flight that a Reply answers: ready with the reply, failed with an error.
template <typename Reply>
class RpcEvent : public RpcCall {
 public:
  using RpcCall::RpcCall;

  // Requires: ready.
  const Reply& reply() const { return *reply_; }

 protected:
  bool DecodeReply(std::string_view body, std::string& error) override {
    reply_ = DecodeBody<Reply>(body, error);
    return reply_.has_value();
  }

 private:
  std::optional<Reply> reply_;
};

// What went wrong on the wire, counted. A malformed frame never does more harm than this.
struct RpcCounters {
  std::uint64_t malformed_frames = 0;
  std::uint64_t unknown_methods = 0;
  std::uint64_t stray_replies = 0;        // late, released or never asked for
  std::uint64_t background_requests = 0;  // served without a dependency id
};

// A reply that is given later, by whoever holds this: for handlers that queue the request and let
// one coroutine work for many. Copyable; the first Send counts, a responder dropped without one
// leaves the caller to its timeout.
template <typename ReplyType>
class Responder {
 public:
  Responder(Rpc* rpc, PeerId peer, FrameHeader request)
      : rpc_(rpc), peer_(peer), request_(request) {}

  void Send(const ReplyType& reply) const;

  PeerId peer() const { return peer_; }
  const Dependency& dependency() const { return request_.dependency; }

 private:
  Rpc* rpc_;
  PeerId peer_;
  FrameHeader request_;
};

// One replica's calls to others, and its handlers for theirs.
class Rpc {
 public:
  Rpc(Host& host, Runtime& runtime) : host_(host), runtime_(runtime) {}

  // Sends `request` to `peer`. The event is ready with the reply, or fails with an error, kTimedOut
  // after `timeout` at the latest; its frame is taken back then if it still waits to be sent. The
  // call carries the running coroutine's dependency.
  template <typename Request>
  std::shared_ptr<RpcEvent<typename Request::Reply>> Call(PeerId peer, const Request& request,
                                                          Duration timeout = kForever) {
    const CallId call = NextCall();
    const auto bytes = EncodeRequest(request, call);
    return Start<Request>(peer, call, bytes, timeout);
  }

  // Sends one request to each peer: encoded once, one buffer shared by all. The peers' events come
  // in the order of `peers`. See Broadcast, which is what most callers want.
  template <typename Request>
  std::vector<std::shared_ptr<RpcEvent<typename Request::Reply>>> CallAll(
      const std::vector<PeerId>& peers, const Request& request, Duration timeout = kForever) {
    const CallId call = NextCall();
    const auto bytes = EncodeRequest(request, call);
    std::vector<std::shared_ptr<RpcEvent<typename Request::Reply>>> events;
    events.reserve(peers.size());
    for (PeerId peer : peers) events.push_back(Start<Request>(peer, call, bytes, timeout));
    return events;
  }

  // Serves a method: `handler(from, request)` runs in a coroutine of its own, may wait, and returns
  // the reply. A std::exception that leaves it answers kRejected. Replaces an earlier handler.
  template <typename Request>
  void Handle(std::function<typename Request::Reply(PeerId, const Request&)> handler);

  // Serves a method without a coroutine: `handler(request, responder)` must not wait. A
  // std::exception answers kRejected.
  template <typename Request>
  void HandleInline(
      std::function<void(const Request&, Responder<typename Request::Reply>)> handler);

  // Gives a call up: its frame is dropped if it is not on the wire yet, its reply ignored, and the
  // event fails with kReleased. Does nothing to a call that is decided.
  void Release(RpcCall& call);

  // Called by the runtime with each frame the host delivers.
  void Deliver(PeerId from, std::string_view bytes);

  const RpcCounters& counters() const { return counters_; }
  // The reason of the latest malformed frame; empty if there was none.
  const std::string& last_malformed() const { return last_malformed_; }
  std::size_t outstanding() const;
  // Of the methods that have handlers.
  std::map<MethodId, std::string> MethodNames() const;

 private:
  template <typename ReplyType>
  friend class Responder;

  struct Method {
    const char* name;
    // Decodes and serves; returns false for a malformed body, with the reason in `error`.
    std::function<bool(PeerId, const FrameHeader&, std::string_view, std::string& error)> serve;
  };

  CallId NextCall();
  Dependency CurrentDependency() const;
  void Register(const std::shared_ptr<RpcCall>& call, CallId id, const Bytes& bytes,
                Duration timeout);
  void Forget(RpcCall& call);  // the reply is no longer expected
  void SendReply(PeerId peer, std::string bytes);
  void SendError(PeerId peer, const FrameHeader& request, RpcError error);
  void SpawnHandler(const char* name, const Dependency& dependency, std::function<void()> body);
  void DeliverRequest(PeerId from, const DecodedFrame& frame);
  void DeliverReply(PeerId from, const DecodedFrame& frame);
  void CountMalformed(PeerId from, const std::string& reason);

  template <typename Request>
  Bytes EncodeRequest(const Request& request, CallId call) const {
    return MakeBytes(EncodeFrame(
        FrameHeader{FrameKind::kRequest, Request::kMethod, call, CurrentDependency()}, request));
  }

  template <typename Request>
  std::shared_ptr<RpcEvent<typename Request::Reply>> Start(PeerId peer, CallId call,
                                                           const Bytes& bytes, Duration timeout) {
    auto event = std::make_shared<RpcEvent<typename Request::Reply>>(peer, Request::kName);
    Register(event, call, bytes, timeout);
    return event;
  }

  template <typename ReplyType>
  void Respond(PeerId peer, FrameHeader header, const ReplyType& reply) {
    header.kind = FrameKind::kReply;
    SendReply(peer, EncodeFrame(header, reply));
  }

  Host& host_;
  Runtime& runtime_;
  CallId last_call_ = 0;  // 0: none yet
  std::map<MethodId, Method> methods_;
  // Outstanding calls: a broadcast shares one id among its peers, so the peer is part of the key.
  std::map<PeerId, std::unordered_map<CallId, std::shared_ptr<RpcCall>>> calls_;
  RpcCounters counters_;
  std::string last_malformed_;
};

template <typename ReplyType>
void Responder<ReplyType>::Send(const ReplyType& reply) const {
  rpc_->Respond(peer_, request_, reply);
}

template <typename Request>
void Rpc::Handle(std::function<typename Request::Reply(PeerId, const Request&)> handler) {
  auto shared = std::make_shared<decltype(handler)>(std::move(handler));
  methods_[Request::kMethod] = {
      Request::kName, [this, shared](PeerId from, const FrameHeader& header, std::string_view body,
                                     std::string& error) {
        auto request = DecodeBody<Request>(body, error);
        if (!request) return false;
        SpawnHandler(Request::kName, header.dependency,
                     [this, shared, from, header, request = std::move(*request)] {
                       std::optional<typename Request::Reply> reply;
                       try {
                         reply = (*shared)(from, request);
                       } catch (const std::exception&) {  // the end of the replica is not one
                         SendError(from, header, RpcError::kRejected);
                         return;
                       }
                       Respond(from, header, *reply);
                     });
        return true;
      }};
}

template <typename Request>
void Rpc::HandleInline(
    std::function<void(const Request&, Responder<typename Request::Reply>)> handler) {
  methods_[Request::kMethod] = {
      Request::kName,
      [this, handler = std::move(handler)](PeerId from, const FrameHeader& header,
                                           std::string_view body, std::string& error) {
        auto request = DecodeBody<Request>(body, error);
        if (!request) return false;
        try {
          handler(*request, Responder<typename Request::Reply>(this, from, header));
        } catch (const std::exception&) {
          SendError(from, header, RpcError::kRejected);
        }
        return true;
      }};
}

}  // namespace depfast

// The templates of rpc.h: between typed messages and the bytes of RpcTable.
#pragma once

#include <any>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "depfast/rpc.h"

namespace depfast {

// Requests that carry entries of a log say which: see CarriedEntries.
template <typename Request>
CarriedEntries CarriedBy(const Request& request) {
  if constexpr (requires { request.Carried(); }) {
    return request.Carried();
  } else {
    return {};
  }
}

template <typename Request>
Bytes Rpc::EncodeRequest(const Request& request, CallId call) const {
  return MakeBytes(EncodeFrame(
      FrameHeader{FrameKind::kRequest, Request::kMethod, call, CurrentDependency()}, request));
}

template <typename Request>
std::shared_ptr<RpcEvent<typename Request::Reply>> Rpc::Start(PeerId peer, CallId call,
                                                              const CarriedEntries& carried,
                                                              const Bytes& bytes,
                                                              Duration timeout) {
  auto event =
      std::make_shared<RpcEvent<typename Request::Reply>>(peer, Request::kMethod, Request::kName);
  Register(event, call, carried, bytes, timeout);
  return event;
}

template <typename Request>
std::shared_ptr<RpcEvent<typename Request::Reply>> Rpc::Call(PeerId peer, const Request& request,
                                                             Duration timeout) {
  const CallId call = NextCall();
  const auto bytes = EncodeRequest(request, call);
  return Start<Request>(peer, call, CarriedBy(request), bytes, timeout);
}

template <typename Request>
std::vector<std::shared_ptr<RpcEvent<typename Request::Reply>>> Rpc::CallAll(
    const std::vector<PeerId>& peers, const Request& request, Duration timeout) {
  const CallId call = NextCall();
  const auto bytes = EncodeRequest(request, call);
  std::vector<std::shared_ptr<RpcEvent<typename Request::Reply>>> events;
  events.reserve(peers.size());
  const CarriedEntries carried = CarriedBy(request);
  for (PeerId peer : peers) events.push_back(Start<Request>(peer, call, carried, bytes, timeout));
  return events;
}

template <typename ReplyType>
void Responder<ReplyType>::Send(const ReplyType& reply) const {
  if (!is_local_) {
    table_->Respond(peer_, request_, reply);
    return;
  }
  if (const auto client = client_.lock()) client->OnReply(request_.call, reply);
  table_->CountAnswer(peer_, request_.dependency);
}

template <typename Request>
void Rpc::Handle(std::function<typename Request::Reply(PeerId, Request&&)> handler) {
  auto shared = std::make_shared<decltype(handler)>(std::move(handler));
  Serve(Request::kMethod, Request::kName,
        [this, shared](PeerId from, const FrameHeader& header, std::string_view body,
                       std::string& error) {
          auto request = DecodeBody<Request>(body, error);
          if (!request) return false;
          SpawnHandler(Request::kName, header.dependency,
                       [this, shared, from, header, request = std::move(*request)]() mutable {
                         std::optional<typename Request::Reply> reply;
                         try {
                           reply = (*shared)(from, std::move(request));
                         } catch (const std::exception& thrown) {  // Cancelled is none
                           Reject(from, header, Request::kName, thrown);
                           return;
                         }
                         Respond(from, header, *reply);
                       });
          return true;
        });
}

template <typename Request>
void Rpc::HandleInline(std::function<void(Request&&, Responder<typename Request::Reply>)> handler) {
  const auto shared = std::make_shared<InlineHandler<Request>>(std::move(handler));
  Serve(
      Request::kMethod, Request::kName,
      [this, shared](PeerId from, const FrameHeader& header, std::string_view body,
                     std::string& error) {
        auto request = DecodeBody<Request>(body, error);
        if (!request) return false;
        try {
          (*shared)(*std::move(request), Responder<typename Request::Reply>(this, from, header));
        } catch (const std::exception& thrown) {
          Reject(from, header, Request::kName, thrown);
        }
        return true;
      },
      shared);
}

template <typename Request>
void Rpc::ServeLocally(PeerId from, CallId call, Request request,
                       const std::weak_ptr<LocalClient<typename Request::Reply>>& client) {
  const FrameHeader header{FrameKind::kRequest, Request::kMethod, call, Dependency::Client(call)};
  const auto refuse = [&](RpcError error) {
    if (const auto there = client.lock()) there->OnError(call, error);
  };
  const auto* handler =
      std::any_cast<std::shared_ptr<InlineHandler<Request>>>(FindInlineHandler(from, header));
  if (handler == nullptr) {
    refuse(RpcError::kUnknownMethod);
    return;
  }
  try {
    (**handler)(std::move(request), Responder<typename Request::Reply>(this, from, header, client));
  } catch (const std::exception& thrown) {
    NoteThrown(Request::kName, thrown);
    refuse(RpcError::kRejected);
  }
}

}  // namespace depfast

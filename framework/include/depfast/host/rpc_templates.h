// The templates of rpc.h: between typed messages and the bytes of RpcTable.
#pragma once

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
  table_->Respond(peer_, request_, reply);
}

template <typename Request>
void Rpc::Handle(std::function<typename Request::Reply(PeerId, const Request&)> handler) {
  auto shared = std::make_shared<decltype(handler)>(std::move(handler));
  Serve(Request::kMethod, Request::kName,
        [this, shared](PeerId from, const FrameHeader& header, std::string_view body,
                       std::string& error) {
          auto request = DecodeBody<Request>(body, error);
          if (!request) return false;
          SpawnHandler(Request::kName, header.dependency,
                       [this, shared, from, header, request = std::move(*request)] {
                         std::optional<typename Request::Reply> reply;
                         try {
                           reply = (*shared)(from, request);
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
  Serve(Request::kMethod, Request::kName,
        [this, handler = std::move(handler)](PeerId from, const FrameHeader& header,
                                             std::string_view body, std::string& error) {
          auto request = DecodeBody<Request>(body, error);
          if (!request) return false;
          try {
            handler(*std::move(request), Responder<typename Request::Reply>(this, from, header));
          } catch (const std::exception& thrown) {
            Reject(from, header, Request::kName, thrown);
          }
          return true;
        });
}

}  // namespace depfast

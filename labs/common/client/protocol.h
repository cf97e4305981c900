// Protocol: the requests of the clients of a lab's replicas, for the tools that load a cluster or
// submit a command to it. A lab's client library registers its own. Students' kits have no load.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "depfast/host/frame.h"
#include "real/client.h"

namespace depfast::load {

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;
class PutTarget;
struct TargetOptions;

// The answer of a replica to a command, or nothing if it was not accepted there.
using Ask = std::optional<Json> (*)(real::Client& client, const Words& words);
// Looks for the replicas that propose, and connects to them. Throws std::exception if none is found
// in 10 s.
using Connect = std::unique_ptr<PutTarget> (*)(const TargetOptions& options);

// All that are linked, by the word that lab.yaml has for one (cluster, load). None is null.
std::map<std::string, Ask>& Asks();
std::map<std::string, Connect>& Connects();

// A client's request, as a frame.
template <typename Request>
std::string Encode(CallId call, const Dependency& client, const Request& request) {
  return EncodeFrame({FrameKind::kRequest, Request::kMethod, call, client}, request);
}
template <typename Request>
std::string Encode(CallId call, const Request& request) {
  return Encode(call, Dependency::Client(call), request);
}

constexpr Duration kPatience = 2s;  // with one replica

// The body of the reply. Throws std::runtime_error: after the request has left, the command may be
// executed although its answer is lost, so it must not be sent again.
template <typename Request>
typename Request::Reply Call(real::Client& client, const Request& request) {
  client.Send(Encode(1, request));
  std::string error;
  const auto bytes = client.Receive(kPatience);
  const auto frame = bytes ? DecodeFrame(*bytes, error) : std::nullopt;
  if (!frame || frame->header.kind != FrameKind::kReply) {
    throw std::runtime_error("replica " + std::to_string(client.replica()) +
                             " has not answered: the command may be executed yet");
  }
  const auto reply = DecodeBody<typename Request::Reply>(frame->body, error);
  if (!reply) throw std::runtime_error("the answer makes no sense: " + error);
  return *reply;
}

}  // namespace depfast::load

// Protocol: the requests of the clients of a lab's replicas, for tools that load a cluster or
// submit a command to it. A lab's client library registers its own.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "frame_target.h"
#include "put_target.h"
#include "real/client.h"

namespace depfast::load {

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

// No member is null.
struct Protocol {
  // Looks for the replicas that propose, and connects to them. Throws std::exception if none is
  // found in 10 s.
  std::unique_ptr<PutTarget> (*connect)(const TargetOptions& options);
  // The answer of a replica to a command, or nothing if it was not accepted there.
  std::optional<Json> (*ask)(real::Client& client, const Words& words);
};

// All that are linked, by the word that lab.yaml has for one (cluster, load).
const std::map<std::string, Protocol>& Protocols();

// Returns true. Requires: no other protocol has the name.
bool RegisterProtocol(const std::string& name, const Protocol& protocol);

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

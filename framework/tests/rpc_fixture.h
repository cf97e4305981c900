// The fixture of the RPC tests: replicas in steps. The test is the network, and sees every frame.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "depfast/host/frame.h"
#include "depfast/host/hosted_runtime.h"
#include "depfast/host/service.h"
#include "depfast/rpc.h"
#include "depfast/runtime.h"
#include "sim/step_host.h"
#include "support/echo.h"
#include "test_support.h"

namespace depfast {

class NoService : public Service {
 public:
  void Start() override {}
};

// One replica with its outputs, sorted.
struct Node {
  explicit Node(PeerId self, int replicas)
      : host({self, replicas, /*random_seed=*/1, /*probes=*/{}},
             [](Runtime&) { return std::make_unique<NoService>(); }) {}

  HostedRuntime& runtime() { return host.runtime(); }
  Rpc& rpc() { return host.runtime().rpc(); }

  sim::StepHost host;
  std::vector<sim::SendFrame> sent;  // not delivered yet
  std::vector<sim::ReleaseFrame> released;
  std::vector<Time> wakes;
  std::string death;
};

// A client in the process of a replica.
struct LocalTexts final : LocalClient<TextReply> {
  void OnReply(CallId call, const TextReply& reply) override {
    heard.push_back(std::to_string(call) + ": " + reply.text);
  }
  void OnError(CallId call, RpcError error) override {
    heard.push_back(std::to_string(call) + ": " + ToString(error));
  }
  std::vector<std::string> heard;
};

// Replicas 0, 1 and 2; the tests' client code runs on 0, the Echo handler on 1 and 2.
class RpcTest : public ::testing::Test {
 protected:
  RpcTest() {
    for (PeerId id = 0; id < 3; ++id) nodes_.push_back(std::make_unique<Node>(id, 3));
  }

  Node& node(PeerId id) { return *nodes_.at(static_cast<std::size_t>(id)); }
  Node& client() { return node(0); }

  void Step(PeerId id, std::vector<sim::FrameArrival> frames = {}) {
    sim::StepInput input;
    input.now = now_;
    input.frames = std::move(frames);
    input.held_bytes.assign(3, 0);
    sim::StepOutput output = node(id).host.Step(input);
    for (sim::Output& out : output.outputs) {
      if (auto* frame = std::get_if<sim::SendFrame>(&out)) node(id).sent.push_back(*frame);
      if (auto* drop = std::get_if<sim::ReleaseFrame>(&out)) node(id).released.push_back(*drop);
      if (auto* wake = std::get_if<sim::SetWake>(&out)) node(id).wakes.push_back(wake->when);
    }
    node(id).death = output.death;
  }

  // Delivers the frames that `from` has sent to `to`, in one step.
  void Carry(PeerId from, PeerId to) {
    std::vector<sim::FrameArrival> frames;
    std::vector<sim::SendFrame> others;
    for (sim::SendFrame& frame : node(from).sent) {
      if (frame.to == to) {
        frames.push_back({from, frame.bytes});
      } else {
        others.push_back(frame);
      }
    }
    node(from).sent = std::move(others);
    Step(to, std::move(frames));
  }

  void RoundTrip(PeerId server) {
    Carry(0, server);
    Carry(server, 0);
  }

  // Runs a coroutine on the client.
  void Go(std::function<void()> body) {
    client().runtime().Spawn("test", std::move(body));
    Step(0);
  }

  void ServeEcho(PeerId id) {
    node(id).rpc().Handle<Echo>([](PeerId from, const Echo& request) {
      return TextReply{request.text + " from " + std::to_string(from)};
    });
  }

  // Keeps the requests in queue_, without an answer.
  void QueueEcho(PeerId id) {
    node(id).rpc().HandleInline<Echo>([this](const Echo&, Responder<TextReply> responder) {
      queue_.push_back(std::move(responder));
    });
  }

  // A request of the local client of replica 1.
  template <typename Request>
  void ServeLocally(CallId call, Request request) {
    node(1).runtime().Enter([&] {
      node(1).rpc().ServeLocally(kFirstClient, call, std::move(request), std::weak_ptr(local_));
    });
  }

  template <typename Request>
  auto Call(PeerId peer, const Request& request, Duration timeout = kForever) {
    std::shared_ptr<RpcEvent<typename Request::Reply>> call;
    Go([&] { call = client().rpc().Call(peer, request, timeout); });
    return call;
  }

  Dependency DependencyOf(const Bytes& bytes) {
    std::string error;
    const auto frame = DecodeFrame(*bytes, error);
    EXPECT_TRUE(frame) << error;
    return frame ? frame->header.dependency : Dependency{};
  }

  Time now_{0};
  testing::Log log_;
  std::vector<Responder<TextReply>> queue_;
  std::shared_ptr<LocalTexts> local_ = std::make_shared<LocalTexts>();
  std::vector<std::unique_ptr<Node>> nodes_;
};

}  // namespace depfast

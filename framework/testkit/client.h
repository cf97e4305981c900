// Client: calls replicas from outside the cluster, in virtual time, with callbacks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "depfast/host/frame.h"
#include "sim/simulator.h"

namespace depfast::testkit {

class Client {
 public:
  // The simulator must outlive the client, and not run without it.
  explicit Client(sim::Simulator& simulator);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  PeerId id() const { return id_; }

  // Sends `request` and calls `done` once: with the reply, or with nothing after `timeout` or on an
  // error answer. Only an answer of that replica to that method counts. The request carries
  // `dependency`, if there is one, or a client dependency id of its own.
  template <typename Request>
  void Call(PeerId replica, const Request& request, Duration timeout,
            std::function<void(const std::optional<typename Request::Reply>&)> done,
            std::optional<Dependency> dependency = std::nullopt) {
    using Reply = typename Request::Reply;
    const CallId call = ++last_call_;
    auto finish = [done = std::move(done)](const DecodedFrame* frame) {
      std::string error;
      done(frame != nullptr && frame->header.kind == FrameKind::kReply
               ? DecodeBody<Reply>(frame->body, error)
               : std::optional<Reply>());
    };
    Start(call, {replica, Request::kMethod, std::move(finish)}, timeout);
    const FrameHeader header{FrameKind::kRequest, Request::kMethod, call,
                             dependency.value_or(Dependency::Client(call))};
    simulator_.ClientSend(id_, replica, MakeBytes(EncodeFrame(header, request)));
  }

  // Sends bytes as they are: for tests of malformed input.
  void SendRaw(PeerId replica, std::string bytes) {
    simulator_.ClientSend(id_, replica, MakeBytes(std::move(bytes)));
  }

  std::size_t outstanding() const { return waiting_.size(); }

 private:
  using Finish = std::function<void(const DecodedFrame*)>;

  // A call's deadline; ordered by time, then by call.
  using Deadline = std::pair<Time, CallId>;

  struct Waiting {
    PeerId replica = kNobody;
    MethodId method = 0;
    Finish finish = nullptr;
  };

  using Calls = std::unordered_map<CallId, Waiting>;

  void Start(CallId call, Waiting waiting, Duration timeout);
  void ArmTimer();
  void OnFrame(PeerId from, const Bytes& bytes);
  void End(Calls::iterator call, const DecodedFrame* frame);

  sim::Simulator& simulator_;
  PeerId id_;
  CallId last_call_ = 0;
  Calls waiting_;
  // Most calls end long before their deadlines. A deadline is kept here, where an ended call's is
  // dropped, and not in the simulator's agenda.
  std::priority_queue<Deadline, std::vector<Deadline>, std::greater<>> deadlines_;
  Time armed_ = kNever;  // of the simulator's next call to this client
};

}  // namespace depfast::testkit

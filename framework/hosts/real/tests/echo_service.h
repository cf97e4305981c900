// A replica with one method for each capability of the real host under test.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "depfast/host/codec.h"
#include "depfast/host/service.h"
#include "depfast/rpc.h"
#include "depfast/runtime.h"
#include "depfast/storage.h"
#include "depfast/value_event.h"
#include "real/client.h"
#include "support/echo.h"

namespace depfast::real {

// Asks replica `to` to echo the text, and returns the answer: "text", or the outcome in brackets.
struct Relay {
  using Reply = TextReply;
  static constexpr MethodId kMethod = 2;
  static constexpr const char* kName = "Relay";
  PeerId to = 0;
  std::string text;
  DEPFAST_FIELDS(to, text)
};

// Appends the text to "log" and answers once it is durable: "ok", or the errno.
struct Write {
  using Reply = TextReply;
  static constexpr MethodId kMethod = 3;
  static constexpr const char* kName = "Write";
  std::string text;
  DEPFAST_FIELDS(text)
};

// Never answers.
struct Hang : EmptyRequest<4> {
  static constexpr const char* kName = "Hang";
};

// Lets an exception escape from a coroutine.
struct Explode : EmptyRequest<5> {
  static constexpr const char* kName = "Explode";
};

class EchoService : public Service {
 public:
  explicit EchoService(Runtime& runtime) : runtime_(runtime) {}

  void Start() override {
    runtime_.Observe({1, {runtime_.rpc().outstanding()}});
    ServeEcho(runtime_.rpc());
    runtime_.rpc().Handle<Relay>([this](PeerId, const Relay& request) {
      const auto call = runtime_.rpc().Call(request.to, Echo{request.text}, 5s);
      const Outcome outcome = call->Wait();
      if (outcome == Outcome::kReady) return call->reply();
      return TextReply{std::string("(") + ToString(call->error()) + ")"};
    });
    runtime_.rpc().Handle<Write>([this](PeerId, const Write& request) {
      const auto written = runtime_.storage().Append("log", request.text, Storage::Sync::kYes);
      return TextReply{written->Wait() == Outcome::kReady ? "ok"
                                                          : std::to_string(written->error())};
    });
    runtime_.rpc().Handle<Hang>([this](PeerId, const Hang&) {
      runtime_.Observe({2, {}});
      std::make_shared<IntEvent>("a day that never comes", 1)->Wait();
      return TextReply{};
    });
    runtime_.rpc().HandleInline<Explode>([this](const Explode&, const Responder<TextReply>&) {
      runtime_.Spawn("Explode", [] { throw std::runtime_error("as told"); });
    });
  }

 private:
  Runtime& runtime_;
};

// Sends a request from outside.
template <typename Request>
void SendCall(Client& client, const Request& request, CallId call) {
  client.Send(EncodeFrame({FrameKind::kRequest, Request::kMethod, call, Dependency::Client(call)},
                          request));
}

// The text of the next answer; an error in angle brackets.
inline std::string ReceiveText(Client& client, Duration timeout = 30s) {
  const auto bytes = client.Receive(timeout);
  if (!bytes) return "<no answer>";
  std::string error;
  const auto frame = DecodeFrame(*bytes, error);
  if (!frame) return "<" + error + ">";
  if (frame->header.kind == FrameKind::kError) return "<error reply>";
  const auto reply = DecodeBody<TextReply>(frame->body, error);
  return reply ? reply->text : "<" + error + ">";
}

template <typename Request>
std::string CallText(Client& client, const Request& request) {
  SendCall(client, request, 1);
  return ReceiveText(client);
}

}  // namespace depfast::real

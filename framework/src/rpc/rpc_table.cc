#include "depfast/host/rpc_table.h"

#include <stdexcept>
#include <utility>

#include "core/scheduler.h"
#include "depfast/host/probe.h"
#include "depfast/note.h"
#include "depfast/runtime.h"

namespace depfast {

std::string RpcCall::Describe() const {
  return std::string("RpcEvent ") + name_ + " -> " + std::to_string(peer_);
}

WaitDescription RpcCall::DescribeWait() const {
  WaitDescription wait;
  wait.Include(peer_, IsReady() ? Vote::kYes : IsFailed() ? Vote::kLost : Vote::kPending);
  return wait;
}

// Here, not in the header: every file that has a runtime would compile these maps.
RpcTable::RpcTable(Host& host, Runtime& runtime) : host_(host), runtime_(runtime) {}

RpcTable::~RpcTable() = default;

void RpcTable::Serve(MethodId method, const char* name, Server server, std::any inline_handler) {
  const auto [served, is_new] =
      methods_.try_emplace(method, Method{name, std::move(server), std::move(inline_handler)});
  if (is_new) return;
  throw std::logic_error("method " + std::to_string(method) + " (" + name +
                         ") has a handler already: " + served->second.name);
}

CallId RpcTable::NextCall() {
  // After a restart, a late reply to the previous incarnation must not be taken for a reply to a
  // new call. So each incarnation numbers its calls from a different start.
  constexpr int kRandomBits = 40;
  if (last_call_ == 0) last_call_ = host_.Random() >> (64 - kRandomBits);
  return ++last_call_;
}

void RpcTable::Register(const std::shared_ptr<RpcCall>& call, CallId id,
                        const CarriedEntries& carried, const Bytes& bytes, Duration timeout) {
  call->id_ = id;
  call->carried_ = carried;
  call->frame_ = host_.Send(call->peer(), bytes);
  calls_[call->peer()].emplace(id, call);
  const Scheduler& scheduler = runtime_.scheduler();
  scheduler.ForEachProbe(
      [&](RuntimeProbe& probe) { probe.OnCall(runtime_, scheduler.current_task(), *call); });
  if (timeout == kForever) return;
  call->timer_ = runtime_.scheduler().AddTimer(After(runtime_.Now(), timeout), [this, call] {
    host_.Release(call->peer(), call->frame_);  // its reply would come too late
    calls_[call->peer()].erase(call->id_);
    call->error_ = RpcError::kTimedOut;
    Decide(*call);
  });
}

void RpcTable::Forget(RpcCall& call) {
  calls_[call.peer()].erase(call.id_);
  // Else a step would be asked for, and charged, just to find the call answered long ago.
  runtime_.scheduler().CancelTimer(call.timer_);
}

void RpcTable::Decide(RpcCall& call) {
  runtime_.scheduler().ForEachProbe([&](RuntimeProbe& probe) { probe.OnReply(runtime_, call); });
  call.Test();
}

void RpcTable::Release(RpcCall& call) {
  if (call.IsDecided()) return;
  const auto keep_alive = call.shared_from_this();
  host_.Release(call.peer(), call.frame_);
  Forget(call);
  call.error_ = RpcError::kReleased;
  runtime_.scheduler().ForEachProbe([&](RuntimeProbe& probe) { probe.OnRelease(runtime_, call); });
  call.Test();
}

void RpcTable::DeliverLink(PeerId peer, bool is_up) {
  has_connections_ = true;
  if (is_up) {
    lost_.erase(peer);
  } else if (lost_.insert(peer).second) {
    for (const auto& on_lost : on_lost_) on_lost(peer);
  }
}

std::size_t RpcTable::outstanding() const {
  std::size_t sum = 0;
  for (const auto& [peer, calls] : calls_) sum += calls.size();
  return sum;
}

std::map<MethodId, std::string> RpcTable::MethodNames() const {
  std::map<MethodId, std::string> names;
  for (const auto& [id, method] : methods_) names[id] = method.name;
  return names;
}

Dependency RpcTable::CurrentDependency() const { return runtime_.dependency(); }

void RpcTable::SpawnHandler(const char* name, const Dependency& dependency,
                            std::function<void()> body) {
  runtime_.scheduler().Spawn(name, dependency, std::move(body));
}

void RpcTable::Deliver(PeerId from, std::string_view bytes) {
  std::string error;
  const auto frame = DecodeFrame(bytes, error);
  if (!frame) {
    CountMalformed(from, error);
  } else if (frame->header.kind == FrameKind::kRequest) {
    DeliverRequest(from, *frame);
  } else {
    DeliverReply(from, *frame);
  }
}

const RpcTable::Method* RpcTable::FindMethod(PeerId from, const FrameHeader& request) {
  if (request.dependency.kind == Dependency::Kind::kNone) ++counters_.background_requests;
  runtime_.scheduler().ForEachProbe(
      [&](RuntimeProbe& probe) { probe.OnRequest(runtime_, from, request.dependency); });
  const auto method = methods_.find(request.method);
  if (method != methods_.end()) return &method->second;
  ++counters_.unknown_methods;
  return nullptr;
}

const std::any* RpcTable::FindInlineHandler(PeerId from, const FrameHeader& header) {
  const Method* const method = FindMethod(from, header);
  return method == nullptr ? nullptr : &method->inline_handler;
}

void RpcTable::DeliverRequest(PeerId from, const DecodedFrame& frame) {
  const Method* const method = FindMethod(from, frame.header);
  if (method == nullptr) {
    SendError(from, frame.header, RpcError::kUnknownMethod);
    return;
  }
  std::string error;
  if (!method->serve(from, frame.header, frame.body, error)) {
    CountMalformed(from, std::string(method->name) + ": " + error);
    SendError(from, frame.header, RpcError::kMalformed);
  }
}

void RpcTable::DeliverReply(PeerId from, const DecodedFrame& frame) {
  const auto peer = calls_.find(from);
  const auto found = peer == calls_.end() ? decltype(peer->second.begin()){}
                                          : peer->second.find(frame.header.call);
  if (peer == calls_.end() || found == peer->second.end()) {
    DropStrayReply(from, frame.header.call);
    return;
  }
  const auto call = found->second;
  Forget(*call);
  std::string error;
  if (frame.header.kind == FrameKind::kReply) {
    call->answered_ = call->DecodeReply(frame.body, error);
    if (!call->answered_) call->error_ = RpcError::kMalformed;
  } else {
    const auto code = DecodeBody<std::uint32_t>(frame.body, error);
    const bool known = code && *code >= static_cast<std::uint32_t>(RpcError::kUnknownMethod) &&
                       *code <= static_cast<std::uint32_t>(RpcError::kRejected);
    call->error_ = known ? static_cast<RpcError>(*code) : RpcError::kMalformed;
    if (!known && error.empty()) error = "unknown error code";
  }
  Decide(*call);
  if (!error.empty()) CountMalformed(from, std::string(call->Label()) + " reply: " + error);
}

void RpcTable::DropStrayReply(PeerId from, CallId call) {
  ++counters_.stray_replies;
  runtime_.scheduler().ForEachProbe(
      [&](RuntimeProbe& probe) { probe.OnStrayReply(runtime_, from, call); });
}

void RpcTable::CountMalformed(PeerId from, const std::string& reason) {
  ++counters_.malformed_frames;
  last_malformed_ = "from " + std::to_string(from) + ": " + reason;
}

void RpcTable::SendAnswer(PeerId peer, const Dependency& dependency, std::string bytes) {
  host_.Send(peer, MakeBytes(std::move(bytes)));
  CountAnswer(peer, dependency);
}

void RpcTable::CountAnswer(PeerId peer, const Dependency& dependency) {
  runtime_.scheduler().ForEachProbe(
      [&](RuntimeProbe& probe) { probe.OnAnswer(runtime_, peer, dependency); });
}

void RpcTable::Reject(PeerId peer, const FrameHeader& request, const char* method,
                      const std::exception& thrown) {
  NoteThrown(method, thrown);
  SendError(peer, request, RpcError::kRejected);
}

void RpcTable::NoteThrown(const char* method, const std::exception& thrown) {
  Note("the handler of %s threw: %s", method, thrown.what());
}

void RpcTable::SendError(PeerId peer, const FrameHeader& request, RpcError error) {
  FrameHeader header = request;
  header.kind = FrameKind::kError;
  SendAnswer(peer, request.dependency, EncodeFrame(header, static_cast<std::uint32_t>(error)));
}

}  // namespace depfast

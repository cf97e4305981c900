#include "redis_conversation.h"

#include <utility>

#include "depfast/host/frame.h"
#include "kv_commands.h"
#include "kv_errors.h"

namespace depfast::kv {
namespace {

// Commands under way for one client.
constexpr std::size_t kUnderWayMax = 1024;

std::string Encoded(const Reply& reply) {
  std::string bytes;
  AppendResp(reply, bytes);
  return bytes;
}

Reply ReplyIn(const DecodedFrame& frame) {
  std::string error;
  if (frame.header.kind == FrameKind::kReply) {
    if (auto reply = DecodeBody<Reply>(frame.body, error)) return *std::move(reply);
  }
  return UnknownOutcome();
}

// The settings that tools ask for before they begin.
Reply ConfigGet(const std::string& name) {
  if (IsWord(name, "APPENDONLY")) return Reply::Array({name, "yes"});
  if (IsWord(name, "SAVE")) return Reply::Array({name, ""});
  return Reply::Array({});
}

// Client libraries spell INCR so.
bool IsIncrementByOne(const Command& command) {
  return command.size() == 3 && IsWord(command[0], "INCRBY") && command[2] == "1";
}

}  // namespace

void RedisConversation::OnBytes(std::string_view bytes) {
  if (closing_) return;
  parser_.Add(bytes);
  TakeCommands();
}

void RedisConversation::OnFrame(std::string_view bytes) {
  std::string error;
  const auto frame = DecodeFrame(bytes, error);
  if (!frame || frame->header.call < first_call_) return;
  const auto slot = static_cast<std::size_t>(frame->header.call - first_call_);
  if (slot >= slots_.size() || slots_[slot]) return;  // of no call, or a second copy
  slots_[slot] = Encoded(ReplyIn(*frame));
  --asked_;
  MoveToOutput();
  TakeCommands();
}

std::vector<std::string> RedisConversation::TakeFrames() { return std::exchange(frames_, {}); }

std::string RedisConversation::TakeOutput() { return std::exchange(output_, {}); }

bool RedisConversation::WantsBytes() const {
  return !closing_ && !held_back_ && slots_.size() < kUnderWayMax;
}

void RedisConversation::TakeCommands() {
  while (!closing_ && slots_.size() < kUnderWayMax) {
    if (!held_back_) held_back_ = parser_.Next();
    if (!held_back_) break;
    if (IsIncrementByOne(*held_back_)) held_back_ = Command{"INCR", (*held_back_)[1]};
    if (!TryServe(*held_back_)) return;
    held_back_.reset();
  }
  if (!closing_ && !parser_.error().empty()) Close(Reply::Error("ERR " + parser_.error()));
}

bool RedisConversation::TryServe(Command& command) {
  if (auto reply = ServeHere(command)) {
    Answer(*reply);
    return true;
  }
  if (const auto wrong = FindError(command)) {
    Answer(*wrong);
    return true;
  }
  const bool reads = FindCommand(command[0])->reads;
  if (asked_ > 0 && reads != asked_to_read_) return false;
  asked_to_read_ = reads;
  Ask(std::move(command));
  return true;
}

void RedisConversation::Ask(Command command) {
  const CallId call = first_call_ + slots_.size();
  const FrameHeader header{FrameKind::kRequest, KvRequest::kMethod, call, Dependency::Client(call)};
  frames_.push_back(EncodeFrame(header, KvRequest{std::move(command), 0}));
  slots_.emplace_back();
  ++asked_;
}

void RedisConversation::Answer(const Reply& reply) {
  slots_.emplace_back(Encoded(reply));
  MoveToOutput();
}

void RedisConversation::Close(const Reply& last) {
  closing_ = true;
  Answer(last);
}

void RedisConversation::MoveToOutput() {
  while (!slots_.empty() && slots_.front()) {
    output_ += *slots_.front();
    slots_.pop_front();
    ++first_call_;
  }
}

std::optional<Reply> RedisConversation::ServeHere(const Command& command) {
  const std::string& name = command[0];
  const std::size_t arguments = command.size() - 1;
  if (IsWord(name, "PING")) {
    if (arguments > 1) return WrongNumberOfArguments(name);
    return arguments == 1 ? Reply::String(command[1]) : Reply{Reply::Kind::kStatus, 0, "PONG", {}};
  }
  if (IsWord(name, "ECHO")) {
    return arguments == 1 ? Reply::String(command[1]) : WrongNumberOfArguments(name);
  }
  if (IsWord(name, "INFO")) return Info();
  if (IsWord(name, "COMMAND")) {
    return Reply::Array({});  // a client then asks for no details
  }
  if (IsWord(name, "CONFIG")) {
    const bool is_get = arguments == 2 && IsWord(command[1], "GET");
    return is_get ? ConfigGet(command[2])
                  : Reply::Error("ERR of CONFIG there is only GET, with one name");
  }
  if (IsWord(name, "QUIT")) {
    closing_ = true;
    return Reply::Ok();
  }
  return std::nullopt;
}

Reply RedisConversation::Info() const {
  return Reply::String("# Server\r\nserver:failslow-kv\r\nredis_mode:standalone\r\ntcp_port:" +
                       std::to_string(context_.port) + "\r\n\r\n# Replication\r\nreplica:" +
                       std::to_string(context_.replica) + "\r\n");
}

}  // namespace depfast::kv

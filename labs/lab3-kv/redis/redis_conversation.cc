#include "redis_conversation.h"

#include <utility>
#include <variant>

#include "depfast/host/frame.h"
#include "kv_commands.h"
#include "kv_errors.h"

namespace depfast::kv {
namespace {

// Commands under way for one client.
constexpr std::size_t kUnderWayMax = 1024;

std::string Encoded(const Reply& reply, Protocol protocol) {
  return RespWriter(protocol).Append(reply).Take();
}

Reply ReplyIn(const DecodedFrame& frame) {
  std::string error;
  if (frame.header.kind == FrameKind::kReply) {
    if (auto reply = DecodeBody<Reply>(frame.body, error)) return *std::move(reply);
  }
  return UnknownOutcome();
}

// Client libraries spell INCR so.
bool IsIncrementByOne(const Command& command) {
  return command.size() == 3 && IsWord(command[0], "INCRBY") && command[2] == "1";
}

// Redis's SET takes options, and some client libraries send them for other commands.
bool IsSetWithOptions(const Command& command) {
  return command.size() > 3 && IsWord(command[0], "SET");
}

// The replica is out of service, and no frame reaches it.
Reply DiskHasFailed(const std::string& failure) {
  return Reply::Error("TRYAGAIN the disk of this replica has failed (" + failure +
                      "); nothing is changed");
}

// A web page can make a browser send an HTTP request to any port of its user's machine, with
// commands in its body. Such a request has one of these words at the beginning of a line, before
// its body. Redis closes the connection there, without an answer, and so does the port.
bool IsOfBrowsers(const Command& command) {
  return IsWord(command[0], "POST") || IsWord(command[0], "HOST:");
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
  if (slot >= slots_.size() || slots_[slot].bytes) return;  // of no call, or a second copy
  --asked_;
  TakeReply(slots_[slot], ReplyIn(*frame));
  MoveToOutput();
  TakeCommands();
}

void RedisConversation::TakeReply(Slot& slot, const Reply& reply) {
  if (!increment_) {
    slot.bytes = Encoded(reply, slot.protocol);
    return;
  }
  auto next = increment_->Next(reply);
  if (const Reply* const last = std::get_if<Reply>(&next)) {
    slot.bytes = Encoded(*last, slot.protocol);
    increment_.reset();
    return;
  }
  // The next command is a call of its own, so that a second copy of this reply is not taken for its
  // reply. Nothing has changed the protocol meanwhile.
  slots_.pop_front();
  ++first_call_;
  Ask(std::get<Command>(std::move(next)));
}

std::vector<std::string> RedisConversation::TakeFrames() { return std::exchange(frames_, {}); }

std::string RedisConversation::TakeOutput() { return std::exchange(output_, {}); }

bool RedisConversation::WantsBytes() const {
  return !closing_ && !increment_ && !held_back_ && slots_.size() < kUnderWayMax;
}

void RedisConversation::TakeCommands() {
  while (!closing_ && !increment_ && slots_.size() < kUnderWayMax) {
    if (!held_back_) held_back_ = NextCommand();
    if (!held_back_) break;
    if (IsIncrementByOne(*held_back_)) held_back_ = Command{"INCR", (*held_back_)[1]};
    if (!TryServe(*held_back_)) return;
    held_back_.reset();
  }
  if (closing_ || increment_ || parser_.error().empty()) return;
  closing_ = true;
  Answer(Reply::Error("ERR " + parser_.error()));
}

std::optional<Command> RedisConversation::NextCommand() {
  auto command = parser_.Next();
  while (command && parser_.was_too_large()) {
    Answer(TooLarge());
    command = parser_.Next();
  }
  return command;
}

bool RedisConversation::TryServe(Command& command) {
  if (IsOfBrowsers(command)) {
    closing_ = true;
  } else if (IsWord(command[0], "QUIT")) {
    closing_ = true;
    Answer(Reply::Ok());
  } else if (const auto refused = RefuseTransaction(command)) {
    Answer(*refused);
  } else if (auto bytes = ServeAtPort(command, context_, client_)) {
    Answer(*std::move(bytes));
  } else if (context_.disk_failure != nullptr && !context_.disk_failure->empty()) {
    Answer(DiskHasFailed(*context_.disk_failure));
  } else {
    return Increment::Is(command[0]) ? TryIncrement(command) : TryStore(command);
  }
  return true;
}

std::optional<Reply> RedisConversation::RefuseTransaction(const Command& command) {
  const bool begins = IsWord(command[0], "MULTI");
  if (!begins && !in_transaction_) return std::nullopt;
  const bool executes = IsWord(command[0], "EXEC");
  in_transaction_ = !executes && !IsWord(command[0], "DISCARD");
  if (begins) {
    return Reply::Error("ERR MULTI is not supported; nothing is executed up to EXEC or DISCARD");
  }
  if (executes) return Reply::Error("EXECABORT nothing is executed: MULTI is not supported");
  if (!in_transaction_) return Reply::Ok();
  return Reply::Error("ERR not executed: MULTI is not supported, and EXEC or DISCARD has not come");
}

bool RedisConversation::TryStore(Command& command) {
  if (IsSetWithOptions(command)) {
    Answer(Reply::Error("ERR syntax error: SET has no options in this store"));
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

bool RedisConversation::TryIncrement(const Command& command) {
  auto parsed = Increment::Parse(command);
  if (const Reply* const wrong = std::get_if<Reply>(&parsed)) {
    Answer(*wrong);
    return true;
  }
  if (asked_ > 0) return false;
  increment_ = std::get<Increment>(std::move(parsed));
  Ask(increment_->First());
  return true;
}

void RedisConversation::Ask(Command command) {
  const CallId call = first_call_ + slots_.size();
  const FrameHeader header{FrameKind::kRequest, KvRequest::kMethod, call, Dependency::Client(call)};
  frames_.push_back(EncodeFrame(header, KvRequest{std::move(command), 0}));
  slots_.push_back({client_.protocol, std::nullopt});
  ++asked_;
}

void RedisConversation::Answer(const Reply& reply) { Answer(Encoded(reply, client_.protocol)); }

void RedisConversation::Answer(std::string bytes) {
  slots_.push_back({client_.protocol, std::move(bytes)});
  MoveToOutput();
}

void RedisConversation::MoveToOutput() {
  while (!slots_.empty() && slots_.front().bytes) {
    output_ += *slots_.front().bytes;
    slots_.pop_front();
    ++first_call_;
  }
}

}  // namespace depfast::kv

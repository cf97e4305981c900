#include "redis_conversation.h"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>

#include "depfast/host/codec.h"
#include "kv_commands.h"
#include "kv_errors.h"

namespace depfast::kv {
namespace {

// Commands under way for one client.
constexpr std::size_t kUnderWayMax = 1024;

// The smallest answer that a read is expected to have.
constexpr std::size_t kExpectedReplyMin = 64;

// Low bits of a call's number that hold the number of its slot.
constexpr int kSlotBits = 40;
constexpr std::uint64_t kSlotMask = (std::uint64_t{1} << kSlotBits) - 1;

std::size_t BytesOf(const Command& command) {
  std::size_t bytes = 0;
  for (const std::string& word : command) bytes += word.size();
  return bytes;
}

// The most bytes of values that the reply to a command can have, if the command takes effect.
// Requires: FindError finds no error.
std::size_t WriteReplyMax(std::span<const std::string> command) {
  constexpr std::size_t kSessionWords = 3;  // SESSION id seq
  switch (FindCommand(command[0])->verb) {
    case Verb::kSession:
      return command.size() > kSessionWords ? WriteReplyMax(command.subspan(kSessionWords)) : 0;
    case Verb::kGet:
    case Verb::kGetset:
      return kArgumentBytesMax;
    case Verb::kMget:
      return kReplyBytesMax;
    default:
      return 0;
  }
}

std::string Encoded(const Reply& reply, Protocol protocol) {
  return RespWriter(protocol).Append(reply).Take();
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
  CountUnfinished();
}

void RedisConversation::CountUnfinished() {
  unfinished_.Remove(unfinished_.bytes());
  const std::size_t bytes = parser_.unfinished();
  if (closing_ || bytes <= kUnfinishedBytesMin) return;
  if (unfinished_.HasRoomFor(bytes)) return unfinished_.Add(bytes);
  closing_ = true;
  parser_ = {};
  Answer(Reply::Error("ERR the unfinished commands of all clients exceed this replica's memory"));
}

std::size_t RedisConversation::SendRequests(Rpc* replica) {
  std::vector<Request> requests = TakeRequests();  // an answer may come at once, and add others
  const std::weak_ptr<LocalClient<Reply>> self = weak_from_this();
  for (auto& [call, request] : requests) {
    if (replica != nullptr) {
      replica->ServeLocally(context_.client, call, std::move(request), self);
    }
  }
  return requests.size();
}

void RedisConversation::OnReply(CallId call, const Reply& reply) {
  const auto slot = static_cast<std::size_t>((call & kSlotMask) - first_slot_);
  if (slot >= slots_.size() || slots_[slot].call != call) return;  // of no call
  TakeReply(slot, reply);
  MoveToOutput();
  TakeCommands();
  context_.on_answer();
}

void RedisConversation::OnError(CallId call, RpcError) { OnReply(call, UnknownOutcome()); }

void RedisConversation::TakeReply(std::size_t number, const Reply& reply) {
  Slot& slot = slots_[number];
  if (increment_) {
    auto next = increment_->Next(reply);
    if (const Reply* const last = std::get_if<Reply>(&next)) {
      Fill(slot, Encoded(*last, slot.protocol));
      increment_.reset();
      return;
    }
    // The next command is a call of its own, so that a second copy of this reply is not taken for
    // its reply. Nothing has changed the protocol meanwhile.
    --asked_;
    held_.Remove(slot.reserved);
    slots_.pop_front();
    ++first_slot_;
    Ask(std::get<Command>(std::move(next)));
    return;
  }
  std::string bytes = Encoded(reply, slot.protocol);
  if (!slot.read.empty()) {
    Expect(reply.kind, bytes.size());
    if (!CanKeep(bytes.size())) {
      Forget(number);
      return;
    }
  }
  Fill(slot, std::move(bytes));
}

// An error says nothing of the values. It may say that the answers were too much for the way to the
// leader: then fewer are asked for.
void RedisConversation::Expect(Reply::Kind kind, std::size_t bytes) {
  if (kind == Reply::Kind::kError) {
    expected_reply_ = std::max(expected_reply_, std::min(2 * expected_reply_, kArgumentBytesMax));
  } else {
    expected_reply_ = std::max({bytes, expected_reply_ / 2, kExpectedReplyMin});
  }
}

void RedisConversation::Fill(Slot& slot, std::string bytes) {
  --asked_;
  slot.call = 0;
  held_.Add(bytes.size());
  answers_ += bytes.size();
  slot.bytes = std::move(bytes);
}

bool RedisConversation::CanKeep(std::size_t bytes) const {
  return answers_ == 0 || (answers_ + bytes <= kHeldBytesMax && held_.HasRoomFor(bytes));
}

// While a read is under way, all calls after it are reads.
void RedisConversation::Forget(std::size_t from) {
  ++forgotten_;
  for (std::size_t i = from; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (slot.read.empty()) continue;
    if (slot.call != 0) {
      --asked_;
      slot.call = 0;
    } else if (slot.bytes) {
      held_.Remove(slot.bytes->size());
      answers_ -= slot.bytes->size();
      slot.bytes.reset();
    } else {
      continue;  // forgotten before
    }
    ++to_ask_again_;
  }
}

bool RedisConversation::AskAgain() {
  for (std::size_t i = 0; to_ask_again_ > 0 && i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (slot.bytes || slot.call != 0) continue;
    const bool is_next = asked_ == 0 && answers_ == 0;
    if (!is_next && !HasRoomFor(expected_reply_)) return false;
    --to_ask_again_;
    asked_to_read_ = true;
    Send(i, slot.read);
  }
  return true;
}

void RedisConversation::OnRoom(std::size_t bytes) {
  held_.Remove(bytes);
  answers_ -= bytes;
  TakeCommands();
}

bool RedisConversation::HasRoomFor(std::size_t bytes) {
  if (slots_.empty() && held_.bytes() == 0) return true;
  if (held_.bytes() + expected() + bytes > kHeldBytesMax) return false;
  waits_for_others_ = !held_.HasRoomFor(bytes);
  return !waits_for_others_;
}

std::string RedisConversation::TakeOutput() { return std::exchange(output_, {}); }

bool RedisConversation::WantsBytes() const {
  return !closing_ && !increment_ && !held_back_ && to_ask_again_ == 0 &&
         slots_.size() < kUnderWayMax && answers_ < kHeldBytesMax;
}

void RedisConversation::TakeCommands() {
  waits_for_others_ = false;
  if (!AskAgain()) return;
  while (!closing_ && !increment_ && slots_.size() < kUnderWayMax && answers_ < kHeldBytesMax) {
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
  const std::size_t reply = reads ? expected_reply_ : WriteReplyMax(command);
  if (!HasRoomFor(BytesOf(command) + reply)) return false;
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
  if (asked_ > 0 || !HasRoomFor(BytesOf(command))) return false;
  increment_ = std::get<Increment>(std::move(parsed));
  asked_to_read_ = false;
  Ask(increment_->First());
  return true;
}

void RedisConversation::Ask(Command command) {
  const bool may_repeat = asked_to_read_ && !increment_;
  Slot& slot = slots_.emplace_back(Slot{.protocol = client_.protocol});
  slot.reserved = BytesOf(command) + (may_repeat || increment_ ? 0 : WriteReplyMax(command));
  held_.Add(slot.reserved);
  if (may_repeat) slot.read = command;
  Send(slots_.size() - 1, std::move(command));
}

void RedisConversation::Send(std::size_t slot, Command command) {
  const CallId call = (forgotten_ << kSlotBits) | (first_slot_ + slot);
  slots_[slot].call = call;
  requests_.push_back({call, {std::move(command), 0}});
  ++asked_;
}

void RedisConversation::Answer(const Reply& reply) { Answer(Encoded(reply, client_.protocol)); }

void RedisConversation::Answer(std::string bytes) {
  held_.Add(bytes.size());
  answers_ += bytes.size();
  slots_.push_back(Slot{.protocol = client_.protocol, .bytes = std::move(bytes)});
  MoveToOutput();
}

void RedisConversation::MoveToOutput() {
  while (!slots_.empty() && slots_.front().bytes) {
    if (output_.empty()) {
      output_ = *std::move(slots_.front().bytes);
    } else {
      output_ += *slots_.front().bytes;
    }
    held_.Remove(slots_.front().reserved);
    slots_.pop_front();
    ++first_slot_;
  }
}

}  // namespace depfast::kv

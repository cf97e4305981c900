#include "kv_checker.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "kv_commands.h"
#include "kv_errors.h"
#include "linearizability/replies.h"
#include "safety.h"
#include "testkit/violation.h"

namespace depfast::kv {
namespace {

constexpr const char* kName = "the rules of the store";

// Numbers of lab 3's handout.
constexpr int kCommandsFollowTheTable = 2;
constexpr int kOneEntryForAWrite = 3;
constexpr int kReadsWriteNothing = 4;
constexpr int kErrorsAreHonest = 5;
constexpr int kSessionsAreExactlyOnce = 6;

// The rule that is broken by a reply that its command does not have.
int RuleOf(const Command& command, bool reads) {
  if (reads) return kReadsWriteNothing;
  return command.front() == "SESSION" ? kSessionsAreExactlyOnce : kCommandsFollowTheTable;
}

// The frame of a KvRequest, or of the reply to one. Nothing for any other frame.
std::optional<DecodedFrame> KvFrame(const Bytes& bytes, FrameKind kind) {
  std::string error;
  auto frame = DecodeFrame(*bytes, error);
  const bool is_one = frame && frame->header.kind == kind;
  return is_one && frame->header.method == KvRequest::kMethod ? frame : std::nullopt;
}

template <typename Body>
std::optional<Body> BodyOf(const DecodedFrame& frame) {
  std::string error;
  return DecodeBody<Body>(frame.body, error);
}

// Requires: FindError finds no error.
bool OnlyReads(const Command& command) { return FindCommand(command[0])->reads; }

bool IsOneOf(const Reply& reply, const std::vector<Reply>& permitted) {
  return std::any_of(permitted.begin(), permitted.end(),
                     [&](const Reply& each) { return IsPermitted(reply, each); });
}

std::string Short(std::string text) {
  constexpr std::size_t kShown = 80;
  if (text.size() <= kShown) return text;
  text.resize(kShown);
  text += "...";
  return text;
}

std::string ToText(const Command& command) {
  std::string text;
  for (const std::string& word : command) {
    text += (text.empty() ? "" : " ") + word;
    if (text.size() > 1'000) break;
  }
  return Short(text);
}

}  // namespace

KvChecker::KvChecker(sim::Simulator& simulator, const LogChecker& log, testkit::History& history)
    : log_(log), history_(history), replicas_(static_cast<std::size_t>(simulator.replicas())) {
  if (log.NumbersEntries()) simulator.AddObserver(this);
}

void KvChecker::OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput& output) {
  OnReplies(replicas_[static_cast<std::size_t>(replica)], input);
  OnRequests(replica, input, output);
  OnEntries(input.now);
}

void KvChecker::OnOutputsLeave(PeerId replica, Time now, const std::vector<sim::Output>& outputs) {
  for (const sim::Output& one : outputs) {
    const auto* sent = std::get_if<sim::SendFrame>(&one);
    if (sent == nullptr) continue;
    const testkit::History::FrameScope scope(&history_, sent->bytes);
    OnAnswer(replica, now, *sent);
  }
}

void KvChecker::OnRestart(PeerId replica, Time) {
  replicas_[static_cast<std::size_t>(replica)] = {};
}

// ---- requests ----

// A replica passes a client's command on in the step in which the command comes.
void KvChecker::OnRequests(PeerId replica, const sim::StepInput& input,
                           const sim::StepOutput& output) {
  Replica& here = replicas_[static_cast<std::size_t>(replica)];
  std::vector<std::pair<Call, KvRequest>> came;
  for (const sim::FrameArrival& arrival : input.frames) {
    const auto frame = KvFrame(arrival.bytes, FrameKind::kRequest);
    const auto request = frame ? BodyOf<KvRequest>(*frame) : std::nullopt;
    if (request) came.push_back({{arrival.from, frame->header.call}, *request});
  }
  if (came.empty()) return;
  std::multimap<Command, Call> passed_on;
  for (const sim::Output& one : output.outputs) {
    const auto* sent = std::get_if<sim::SendFrame>(&one);
    const auto frame = sent != nullptr ? KvFrame(sent->bytes, FrameKind::kRequest) : std::nullopt;
    const auto request = frame ? BodyOf<KvRequest>(*frame) : std::nullopt;
    if (!request || request->forward_id == 0) continue;
    passed_on.emplace(request->command, Call(sent->to, frame->header.call));
  }
  for (const auto& [from, request] : came) {
    const bool is_forward = request.forward_id != 0;
    if (is_forward && !here.forwards.insert(request.forward_id).second) continue;
    const auto passed = is_forward ? passed_on.end() : passed_on.find(request.command);
    if (passed == passed_on.end()) {
      Ask(replica, from, request, input.now);
    } else {
      here.passed.emplace(from, Passed{request.command, {}});
      here.forwards_of.emplace(passed->second, from);
      passed_on.erase(passed);
    }
  }
}

void KvChecker::OnReplies(Replica& replica, const sim::StepInput& input) {
  if (replica.forwards_of.empty()) return;
  for (const sim::FrameArrival& arrival : input.frames) {
    const auto frame = KvFrame(arrival.bytes, FrameKind::kReply);
    const auto reply = frame ? BodyOf<Reply>(*frame) : std::nullopt;
    if (!reply) continue;
    const auto forward = replica.forwards_of.extract({arrival.from, frame->header.call});
    if (!forward) continue;
    const auto passed = replica.passed.find(forward.mapped());
    if (passed != replica.passed.end()) passed->second.replies.push_back(*reply);
  }
}

void KvChecker::Ask(PeerId replica, Call from, const KvRequest& request, Time now) {
  const Command& command = request.command;
  const auto wrong = FindError(command);
  Asked asked{command, DigestOf(EncodeCommand(command)), !wrong && OnlyReads(command), now, {}};
  if (wrong) {
    asked.permitted.push_back(*wrong);
  } else if (asked.reads) {
    asked.permitted.push_back(model_.Read(command));
  } else {
    // A service may find this error, too, without the log.
    if (HasMalformedNumber(command)) asked.permitted.push_back(NotAnInteger());
    Promise& promise = promises_[asked.entry];
    if (promise.asked == 0) promise = {command, replica, now};
    ++promise.asked;
    PermitRepliesToCopies(request, asked);
  }
  replicas_[static_cast<std::size_t>(replica)].asked.emplace(
      from, std::move(asked));  // of two copies, the first
}

void KvChecker::PermitRepliesToCopies(const KvRequest& request, Asked& asked) {
  if (!log_.HasSeveralProposers() || request.forward_id == 0) return;
  const std::uint64_t first = first_copies_.emplace(request.forward_id, last_index_).first->second;
  for (const auto& [index, reply] : replies_[asked.entry]) {
    if (index > first) asked.permitted.push_back(reply);
  }
}

// ---- entries ----

void KvChecker::OnEntries(Time now) {
  while (const auto entry = log_.AppliedAt(last_index_ + 1)) OnEntry(++last_index_, *entry, now);
}

void KvChecker::OnEntry(std::uint64_t index, const CommandDigest& entry, Time now) {
  if (entry.bytes == 0) return;  // a no-op
  const auto promise = promises_.find(entry);
  if (promise == promises_.end()) {
    Violate(now, kOneEntryForAWrite,
            "the entry at index " + std::to_string(index) +
                " is no command that a client has sent, as EncodeCommand encodes it, and "
                "that may go into the log",
            std::nullopt);
    return;
  }
  Promise& known = promise->second;
  if (++known.applied + known.refused > known.asked) {
    Violate(now, kOneEntryForAWrite,
            "\"" + ToText(known.command) + "\" is executed " + std::to_string(known.applied) +
                " times, but " + std::to_string(known.asked) + " requests asked for it, and " +
                std::to_string(known.refused) + " of them were answered TRYAGAIN",
            Safety::kOnce);
  }
  const Reply reply = model_.Apply(index, known.command);
  if (on_entry_) on_entry_(index, known.command, reply);
  if (log_.HasSeveralProposers()) replies_[entry].emplace_back(index, reply);
  for (Replica& replica : replicas_) {
    for (auto& [from, asked] : replica.asked) {
      if (asked.entry == entry) asked.permitted.push_back(reply);
      if (!asked.reads) continue;
      const Reply read = model_.Read(asked.command);
      if (read != asked.permitted.back()) asked.permitted.push_back(read);
    }
  }
}

// ---- answers ----

void KvChecker::OnAnswer(PeerId replica, Time now, const sim::SendFrame& sent) {
  Replica& here = replicas_[static_cast<std::size_t>(replica)];
  const auto frame = KvFrame(sent.bytes, FrameKind::kReply);
  if (!frame) return;
  const auto reply = BodyOf<Reply>(*frame);
  if (const auto passed = here.passed.extract({sent.to, frame->header.call})) {
    OnAnswerToPassed(replica, now, passed.mapped(), reply.value_or(Reply::Error("malformed")));
    return;
  }
  const auto found = here.asked.find({sent.to, frame->header.call});
  if (found == here.asked.end()) return;
  const Asked asked = std::move(found->second);
  here.asked.erase(found);
  const auto untrue = reply ? WhyNot(replica, asked, *reply)
                            : Untrue{kCommandsFollowTheTable, "that is not a reply"};
  if (!untrue.why.empty()) {
    Violate(now, untrue.rule,
            "replica " + std::to_string(replica) + " answers " +
                Short(reply ? kv::ToText(*reply) : "") + " to \"" + ToText(asked.command) +
                "\", but " + untrue.why,
            untrue.breaks, untrue.earlier);
  }
  if (reply && HasCode(*reply, "TRYAGAIN")) CountRefusal(asked.entry, now);
}

// One of several proposers may have executed the command as well.
void KvChecker::OnAnswerToPassed(PeerId replica, Time now, const Passed& passed,
                                 const Reply& reply) {
  if (log_.HasSeveralProposers() || IsOneOf(reply, passed.replies)) return;
  if (HasCode(reply, "TRYAGAIN") || HasCode(reply, "UNKNOWN")) return;
  const bool reads = !FindError(passed.command) && OnlyReads(passed.command);
  Violate(now, reads ? kReadsWriteNothing : kCommandsFollowTheTable,
          "replica " + std::to_string(replica) + " answers " + Short(kv::ToText(reply)) + " to \"" +
              ToText(passed.command) +
              "\", but it passed the command on, and no other replica has answered so",
          std::nullopt);
}

KvChecker::Untrue KvChecker::WhyNot(PeerId replica, const Asked& asked, const Reply& reply) {
  const bool reads = asked.reads;
  if (HasCode(reply, "TRYAGAIN")) return {};
  if (HasCode(reply, "UNKNOWN")) {
    return {kErrorsAreHonest, reads ? "a read is known to have changed nothing" : ""};
  }
  const bool is_error = reply.kind == Reply::Kind::kError;
  if (asked.permitted.empty()) {
    return {kOneEntryForAWrite, "no replica has executed the command since it came",
            is_error ? std::nullopt : Breaks(Safety::kAcknowledgedIsKept)};
  }
  if (!IsOneOf(reply, asked.permitted)) {
    const int rule = RuleOf(asked.command, reads);
    const bool is_retry = rule == kSessionsAreExactlyOnce && !is_error &&
                          asked.permitted.back().kind != Reply::Kind::kError;
    const Breaks breaks = reads && !is_error ? Breaks(Safety::kReadsSeeAll)
                          : is_retry         ? Breaks(Safety::kOnce)
                                             : std::nullopt;
    const std::string which = reads ? "at any moment since it came" : "of its entry";
    return {rule, "the reply " + which + " is " + Short(kv::ToText(asked.permitted.back())), breaks,
            reads ? DecidedBy(asked.command) : std::vector<testkit::EarlierStep>{}};
  }
  return {kReadsWriteNothing, reads ? log_.WhyMayNotRead(replica, asked.since) : "",
          Safety::kReadsSeeAll};
}

std::vector<testkit::EarlierStep> KvChecker::DecidedBy(const Command& read) const {
  StoreModel model;
  Reply reply = model.Read(read);
  const Promise* decides = nullptr;
  for (std::uint64_t index = 1; index <= last_index_; ++index) {
    const auto promise = promises_.find(log_.AppliedAt(index).value_or(CommandDigest()));
    if (promise == promises_.end()) continue;
    model.Apply(index, promise->second.command);
    Reply now = model.Read(read);
    if (now == reply) continue;
    reply = std::move(now);
    decides = &promise->second;
  }
  if (decides == nullptr) return {};
  return {{decides->replica, decides->since, true,
           "The read should see what this command wrote: \"" + ToText(decides->command) + "\"."}};
}

void KvChecker::CountRefusal(const CommandDigest& entry, Time now) {
  const auto promise = promises_.find(entry);
  if (promise == promises_.end()) return;
  Promise& known = promise->second;
  ++known.refused;
  if (known.applied + known.refused > known.asked) {
    Violate(now, kErrorsAreHonest,
            "\"" + ToText(known.command) + "\" is answered TRYAGAIN, and was executed",
            Safety::kOnce);
  }
}

void KvChecker::Violate(Time now, int rule, const std::string& what, Breaks breaks,
                        std::vector<testkit::EarlierStep> earlier) {
  if (!first_violation_.empty()) return;
  breaks_ = breaks;
  first_violation_ = testkit::ViolationSentence(
      kName, now, what, "rule " + std::to_string(rule) + " of lab 3's handout");
  history_.AddViolation(now, kName, what, std::move(earlier));
}

}  // namespace depfast::kv

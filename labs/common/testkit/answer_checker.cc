#include "answer_checker.h"

#include <variant>

#include "submit.h"
#include "testkit/violation.h"

namespace depfast {
namespace {

constexpr const char* kInvariant = "true answers";
constexpr const char* kRule = "kCommitted in labs/common/contract/submit.h";

bool IsClient(PeerId peer) { return peer >= kFirstClient; }

}  // namespace

AnswerChecker::AnswerChecker(const sim::GroupView& group, const LogChecker& log,
                             testkit::History& history)
    : log_(log), history_(history), requests_(static_cast<std::size_t>(group.replicas())) {
  group.AddObserver(this);
}

void AnswerChecker::OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput&) {
  for (const sim::FrameArrival& arrival : input.frames) {
    if (IsClient(arrival.from)) OnRequest(replica, arrival);
  }
}

void AnswerChecker::OnRequest(PeerId replica, const sim::FrameArrival& arrival) {
  std::string error;
  const auto frame = DecodeFrame(*arrival.bytes, error);
  if (!frame || frame->header.kind != FrameKind::kRequest) return;
  if (frame->header.method != Submit::kMethod) return;
  const auto request = DecodeBody<Submit>(frame->body, error);
  if (!request) return;
  requests_[static_cast<std::size_t>(replica)][{arrival.from, frame->header.call}] =
      DigestOf(request->command);
}

void AnswerChecker::OnOutputsLeave(PeerId replica, Time now,
                                   const std::vector<sim::Output>& outputs) {
  for (const sim::Output& one : outputs) {
    const auto* frame = std::get_if<sim::SendFrame>(&one);
    if (frame == nullptr || !IsClient(frame->to)) continue;
    const testkit::History::FrameScope scope(&history_, frame->bytes);
    OnAnswer(replica, now, *frame);
  }
}

void AnswerChecker::OnAnswer(PeerId replica, Time now, const sim::SendFrame& sent) {
  std::string error;
  const auto frame = DecodeFrame(*sent.bytes, error);
  if (!frame || frame->header.kind != FrameKind::kReply) return;
  if (frame->header.method != Submit::kMethod) return;
  const auto reply = DecodeBody<SubmitReply>(frame->body, error);
  if (!reply || reply->status != SubmitStatus::kCommitted) return;
  const Requests& requests = requests_[static_cast<std::size_t>(replica)];
  const auto request = requests.find({sent.to, frame->header.call});
  if (request == requests.end()) {
    Violate(replica, now, "no request asked for that");
  } else if (const std::string why = log_.WhyNotCommitted(replica, reply->index, request->second);
             !why.empty()) {
    Violate(replica, now, why);
  } else if (const auto result = log_.ResultAt(reply->index); result && *result != reply->result) {
    Violate(replica, now, "its result is '" + reply->result + "', not '" + *result + "'");
  }
}

void AnswerChecker::OnRestart(PeerId replica, Time) {
  requests_[static_cast<std::size_t>(replica)].clear();
}

void AnswerChecker::Violate(PeerId replica, Time now, const std::string& why) {
  if (!first_violation_.empty()) return;
  const std::string what =
      "replica " + std::to_string(replica) + " answers that a command is committed, but " + why;
  first_violation_ = testkit::ViolationSentence(kInvariant, now, what, kRule);
  history_.AddViolation(now, kInvariant, what);
}

}  // namespace depfast

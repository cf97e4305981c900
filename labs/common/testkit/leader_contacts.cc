#include "leader_contacts.h"

#include <algorithm>
#include <string>
#include <variant>

namespace depfast {

LeaderContacts::LeaderContacts(const sim::GroupView& group, TermOf term_of)
    : term_of_(std::move(term_of)), leaders_(static_cast<std::size_t>(group.replicas())) {
  group.AddObserver(this);
}

std::size_t LeaderContacts::AnsweredSince(PeerId replica, Time since) const {
  const auto& answered = Of(replica).answered;
  return static_cast<std::size_t>(
      std::count_if(answered.begin(), answered.end(),
                    [since](const auto& each) { return each.second >= since; }));
}

void LeaderContacts::OnStep(PeerId replica, const sim::StepInput& input,
                            const sim::StepOutput& output) {
  Leader& leader = leaders_[static_cast<std::size_t>(replica)];
  for (const sim::FrameArrival& arrival : input.frames) OnAnswer(leader, arrival);
  for (const sim::Output& one : output.outputs) {
    const auto* sent = std::get_if<sim::SendFrame>(&one);
    if (sent != nullptr && sent->to < kFirstClient) OnSent(leader, input.now, *sent);
  }
}

void LeaderContacts::OnRestart(PeerId replica, Time) {
  leaders_[static_cast<std::size_t>(replica)] = {};
}

void LeaderContacts::OnAnswer(Leader& leader, const sim::FrameArrival& arrival) {
  if (leader.unanswered.empty()) return;
  std::string error;
  const auto frame = DecodeFrame(*arrival.bytes, error);
  if (!frame || frame->header.kind != FrameKind::kReply) return;
  const auto asked = leader.unanswered.find({arrival.from, frame->header.call});
  if (asked == leader.unanswered.end()) return;
  if (term_of_(*frame) == leader.term) {
    Time& latest = leader.answered.try_emplace(arrival.from, asked->second).first->second;
    latest = std::max(latest, asked->second);
  }
  leader.unanswered.erase(asked);
}

void LeaderContacts::OnSent(Leader& leader, Time now, const sim::SendFrame& sent) {
  std::string error;
  const auto frame = DecodeFrame(*sent.bytes, error);
  if (!frame || frame->header.kind != FrameKind::kRequest) return;
  const auto term = term_of_(*frame);
  if (!term || *term < leader.term) return;
  if (*term > leader.term) leader = {*term, {}, {}};
  leader.unanswered.emplace(std::pair{sent.to, frame->header.call}, now);
}

}  // namespace depfast

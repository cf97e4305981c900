#include "leader_contacts.h"

#include <algorithm>
#include <optional>
#include <string>
#include <variant>

#include "raft_messages.h"

namespace depfast::raft {
namespace {

template <typename Body>
std::optional<std::uint64_t> TermIn(std::string_view bytes) {
  std::string error;
  const auto body = DecodeBody<Body>(bytes, error);
  return body ? std::optional(body->term) : std::nullopt;
}

// The term of a leader's message, or of the answer to one. Nothing for any other frame.
std::optional<std::uint64_t> TermOf(const DecodedFrame& frame) {
  const bool asks = frame.header.kind == FrameKind::kRequest;
  if (!asks && frame.header.kind != FrameKind::kReply) return std::nullopt;
  if (frame.header.method == AppendEntries::kMethod) {
    return asks ? TermIn<AppendEntries>(frame.body) : TermIn<AppendEntriesReply>(frame.body);
  }
  if (frame.header.method == InstallSnapshot::kMethod) {
    return asks ? TermIn<InstallSnapshot>(frame.body) : TermIn<InstallSnapshotReply>(frame.body);
  }
  return std::nullopt;
}

}  // namespace

LeaderContacts::LeaderContacts(const sim::GroupView& group)
    : leaders_(static_cast<std::size_t>(group.replicas())) {
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
  if (TermOf(*frame) == leader.term) {
    Time& latest = leader.answered.try_emplace(arrival.from, asked->second).first->second;
    latest = std::max(latest, asked->second);
  }
  leader.unanswered.erase(asked);
}

void LeaderContacts::OnSent(Leader& leader, Time now, const sim::SendFrame& sent) {
  std::string error;
  const auto frame = DecodeFrame(*sent.bytes, error);
  if (!frame || frame->header.kind != FrameKind::kRequest) return;
  const auto term = TermOf(*frame);
  if (!term || *term < leader.term) return;
  if (*term > leader.term) leader = {*term, {}, {}};
  leader.unanswered.emplace(std::pair{sent.to, frame->header.call}, now);
}

}  // namespace depfast::raft

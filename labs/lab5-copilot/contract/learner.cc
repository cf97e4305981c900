#include "learner.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace depfast::copilot {
namespace {

constexpr Duration kPause = 50ms;  // after a replica that knew nothing more

}  // namespace

Learner::Learner(Runtime& runtime, Decisions& decisions, Snapshots& snapshots)
    : runtime_(runtime), decisions_(decisions), snapshots_(snapshots) {}

void Learner::Serve() {
  runtime_.rpc().HandleInline<Learn>([this](const auto& request, const auto& responder) {
    responder.Send(DecisionsFrom(request.lane, request.first));
  });
}

void Learner::Lacks(Lane lane, EntryIndex up_to, PeerId peer) {
  At(up_to_, lane) = std::max(At(up_to_, lane), up_to);
  peer_ = peer;
  if (!std::exchange(is_learning_, true)) runtime_.Spawn("learn", [this] { Loop(); });
}

void Learner::Loop() {
  runtime_.set_dependency({});  // a background task: no client asked for it
  for (;;) {
    const auto lacking = std::ranges::find_if(
        kLanes, [this](Lane lane) { return decisions_.log(lane).decided() < At(up_to_, lane); });
    if (lacking == std::end(kLanes)) break;
    const PeerId asked = peer_;
    const Learned learned = LearnSome(asked, *lacking);
    if (learned == Learned::kSome) continue;
    if (learned == Learned::kAreGone && snapshots_.FetchFrom(asked, kLearnPatience)) continue;
    runtime_.Sleep(kPause);
    // Another peer may have told us meanwhile that it has more.
    while (peer_ == asked || peer_ == runtime_.self()) peer_ = (peer_ + 1) % runtime_.replicas();
  }
  is_learning_ = false;
}

Learner::Learned Learner::LearnSome(PeerId peer, Lane lane) {
  const EntryIndex first = decisions_.log(lane).decided() + 1;
  const auto call = runtime_.rpc().Call(peer, Learn{lane, first});
  const Outcome outcome = call->Wait(kLearnPatience);
  runtime_.rpc().Release(*call);
  if (outcome != Outcome::kReady) return Learned::kNothing;
  const LearnReply& reply = call->reply();
  if (reply.base >= first) return Learned::kAreGone;
  EntryIndex index = first;
  for (const Decision& each : reply.decisions) {
    decisions_.Decide(lane, index++,
                      {{each.no_op, each.dependency}, 0, each.origin, each.commands});
  }
  return reply.decisions.empty() ? Learned::kNothing : Learned::kSome;
}

LearnReply Learner::DecisionsFrom(Lane lane, EntryIndex first) const {
  const LaneLog& log = decisions_.log(lane);
  LearnReply reply{log.base(), {}};
  std::size_t bytes = 0;
  for (EntryIndex index = first; index > log.base() && index <= log.decided(); ++index) {
    const Record record = log.RecordOf(index);
    const LaneLog::Body& body = log.BodyOf(index);
    Decision decision{record.no_op, record.dependency, body.origin.value_or(0), {}};
    if (!record.no_op) decision.commands = body.commands;
    bytes += SizeOf(decision.commands);
    reply.decisions.push_back(std::move(decision));
    if (bytes >= kReplyBytesMax) break;
  }
  return reply;
}

}  // namespace depfast::copilot

#include "pilots.h"

#include <algorithm>
#include <utility>

#include "copilot_observations.h"
#include "depfast/broadcast.h"
#include "quorum_event.h"

namespace depfast::copilot {

void Pilots::Start(const Recovered& recovered) {
  runtime_.rpc().HandleInline<TakeLane>(
      [this](const auto& request, const auto& responder) { OnTakeLane(request, responder); });
  runtime_.rpc().HandleInline<Heartbeat>([this](const auto& request, const auto& responder) {
    if (Hear(request.lane, request.view)) {
      user_.OnHeartbeat(responder.peer(), request.decided, request.ran_everywhere);
    }
    lanes_.journal().WhenDurable([this, responder, lane = request.lane] {
      responder.Send({view(lane), lanes_.progress().entries});
    });
  });
  for (const Lane lane : kLanes) {
    State& state = At(states_, lane);
    state.view = At(recovered.views, lane).value_or(static_cast<View>(lane));
    if (recovered.is_first_start && owner(lane) == runtime_.self()) Have(lane);
    state.last_heard = runtime_.Now();
    lanes_.journal().WriteView(lane, state.view);
  }
  Observe();
  for (const Lane lane : kLanes) {
    if (Has(lane)) runtime_.Spawn("heartbeat", [this, lane] { HeartbeatLoop(lane); });
  }
  runtime_.Spawn("watch", [this] { WatchLoop(); });
}

void Pilots::Have(Lane lane) {
  State& state = At(states_, lane);
  state.is_ours = true;
  if (!state.first_of_ours) state.first_of_ours = state.view;
}

bool Pilots::HasHad(Lane lane, View view) const {
  const auto& first = At(states_, lane).first_of_ours;
  return first && view >= *first && OwnerOf(view, runtime_.replicas()) == runtime_.self();
}

bool Pilots::Know(Lane lane, View view) {
  if (view > this->view(lane)) Adopt(lane, view);
  return view == this->view(lane);
}

bool Pilots::Hear(Lane lane, View view) {
  if (!Know(lane, view)) return false;
  At(states_, lane).last_heard = runtime_.Now();
  return true;
}

void Pilots::Adopt(Lane lane, View view) {
  State& state = At(states_, lane);
  const bool was_ours = std::exchange(state.is_ours, false);
  state.view = view;
  state.last_heard = runtime_.Now();
  lanes_.journal().WriteView(lane, view);
  Observe();
  if (was_ours) user_.OnDeposed();
}

void Pilots::Observe() {
  const Duty duty = Has(Lane::kPilot)     ? Duty::kPilot
                    : Has(Lane::kCopilot) ? Duty::kCopilot
                                          : Duty::kFollower;
  runtime_.Observe({kDutyObservation,
                    {static_cast<std::uint64_t>(duty), view(Lane::kPilot), view(Lane::kCopilot)}});
}

// ---- a dead pilot ----

void Pilots::WatchLoop() {
  for (;;) {
    const Duration patience = runtime_.RandomBetween(kDeadAfterMin, kDeadAfterMax);
    runtime_.Sleep(patience / 4);
    for (const Lane lane : kLanes) {
      const bool silent = runtime_.Now() >= At(states_, lane).last_heard + patience;
      if (silent && !HasAny()) Campaign(lane);
    }
  }
}

void Pilots::Campaign(Lane lane) {
  View next = view(lane) + 1;
  while (OwnerOf(next, runtime_.replicas()) != runtime_.self()) ++next;
  EntryIndex latest = 0;
  // Without the pre-vote a replica that was merely slow would depose a healthy pilot.
  if (!Ask({lane, next, /*pre_vote=*/true}, latest) || view(lane) >= next) return;
  Adopt(lane, next);
  if (!Ask({lane, next, /*pre_vote=*/false}, latest) || view(lane) != next) return;
  Have(lane);
  Observe();
  runtime_.Spawn("heartbeat", [this, lane] { HeartbeatLoop(lane); });
  user_.OnElected(lane, latest);
}

// True if a majority grants it. `latest`: the latest entry that any of them knows.
bool Pilots::Ask(const TakeLane& request, EntryIndex& latest) {
  latest = lanes_.log(request.lane).latest_known();
  Broadcast<TakeLane> calls(runtime_.rpc(), runtime_.peers(), request);
  const auto quorum = QuorumEvent::Majority(runtime_.replicas());
  for (const auto& call : calls.calls()) {
    quorum->Add(call, [&latest, &answered = *call] {
      latest = std::max(latest, answered.reply().latest);
      return answered.reply().granted;
    });
  }
  // Our own vote is one among others, and must be on our disk.
  const int own = runtime_.replicas() - 1;
  lanes_.journal().WhenDurable([quorum, own] { quorum->VoteYes(own); });
  quorum->Wait(kDeadAfterMin / 2);
  calls.Release();
  return quorum->Ready();
}

void Pilots::OnTakeLane(const TakeLane& request, const Responder<TakeLaneReply>& responder) {
  const State& state = At(states_, request.lane);
  const bool lives = state.is_ours || runtime_.Now() < state.last_heard + kDeadAfterMin;
  const bool granted = request.view > state.view && !(request.pre_vote && lives);
  if (granted && !request.pre_vote) Adopt(request.lane, request.view);
  const TakeLaneReply reply{granted, state.view, lanes_.log(request.lane).latest_known()};
  lanes_.journal().WhenDurable([responder, reply] { responder.Send(reply); });
}

// ---- heartbeats ----

void Pilots::HeartbeatLoop(Lane lane) {
  runtime_.set_dependency(Dependency::Heartbeat());
  const View ours = view(lane);
  while (Has(lane, ours)) {
    ran_[static_cast<std::size_t>(runtime_.self())] = lanes_.progress().entries;
    PerLane ran_everywhere = ran_.front();
    for (const auto& [pilots, copilots] : ran_) {
      ran_everywhere = {std::min(ran_everywhere[0], pilots), std::min(ran_everywhere[1], copilots)};
    }
    const Heartbeat request{lane, ours, lanes_.decided(), ran_everywhere};
    Broadcast<Heartbeat> calls(runtime_.rpc(), runtime_.peers(), request);
    runtime_.Sleep(kHeartbeatInterval);
    for (const auto& call : calls.calls()) {
      if (!call->IsReady()) continue;
      ran_[static_cast<std::size_t>(call->peer())] = call->reply().ran;
      Know(lane, call->reply().view);
    }
    calls.Release();
  }
}

}  // namespace depfast::copilot

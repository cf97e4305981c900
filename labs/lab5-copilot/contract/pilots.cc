#include "pilots.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "depfast/broadcast.h"
#include "quorum_event.h"

namespace depfast::copilot {

Pilots::Pilots(Runtime& runtime, Journal& journal, LaneUser& user)
    : runtime_(runtime),
      journal_(journal),
      user_(user),
      ran_(static_cast<std::size_t>(runtime.replicas())) {}

void Pilots::Start(const Recovered& recovered) {
  runtime_.rpc().HandleInline<TakeLane>(
      [this](const TakeLane& request, const Responder<TakeLaneReply>& responder) {
        OnTakeLane(request, responder);
      });
  runtime_.rpc().HandleInline<Heartbeat>(
      [this](const Heartbeat& request, const Responder<HeartbeatReply>& responder) {
        if (Hear(request.lane, request.view)) {
          user_.OnHeartbeat(responder.peer(), request.decided, request.ran_everywhere);
        }
        journal_.WhenDurable([this, responder, lane = request.lane] {
          responder.Send({view(lane), user_.RanUpTo()});
        });
      });
  for (const Lane lane : kLanes) {
    State& state = Of(lane);
    state.view = recovered.views[Index(lane)].value_or(static_cast<View>(lane));
    if (recovered.is_first_start && owner(lane) == runtime_.self()) Have(lane);
    state.last_heard = runtime_.Now();
    journal_.WriteView(lane, state.view);
  }
  Observe();
  for (const Lane lane : kLanes) {
    if (Has(lane)) runtime_.Spawn("heartbeat", [this, lane] { HeartbeatLoop(lane); });
  }
  runtime_.Spawn("watch", [this] { WatchLoop(); });
}

void Pilots::Have(Lane lane) {
  State& state = Of(lane);
  state.is_ours = true;
  if (!state.first_of_ours) state.first_of_ours = state.view;
}

bool Pilots::HasHad(Lane lane, View view) const {
  const auto& first = lanes_[Index(lane)].first_of_ours;
  return first && view >= *first && OwnerOf(view, runtime_.replicas()) == runtime_.self();
}

bool Pilots::Know(Lane lane, View view) {
  if (view > this->view(lane)) Adopt(lane, view);
  return view == this->view(lane);
}

bool Pilots::Hear(Lane lane, View view) {
  if (!Know(lane, view)) return false;
  Of(lane).last_heard = runtime_.Now();
  return true;
}

void Pilots::Adopt(Lane lane, View view) {
  State& state = Of(lane);
  const bool was_ours = std::exchange(state.is_ours, false);
  state.view = view;
  state.last_heard = runtime_.Now();
  journal_.WriteView(lane, view);
  Observe();
  if (was_ours) user_.OnDeposed(lane);
}

void Pilots::Observe() {
  const Duty duty = Has(Lane::kPilot)     ? Duty::kPilot
                    : Has(Lane::kCopilot) ? Duty::kCopilot
                                          : Duty::kFollower;
  ObserveDuty(runtime_, duty, view(Lane::kPilot), view(Lane::kCopilot));
}

// ---- a dead pilot ----

void Pilots::WatchLoop() {
  for (;;) {
    const Duration patience = runtime_.RandomBetween(kDeadAfterMin, kDeadAfterMax);
    runtime_.Sleep(patience / 4);
    for (const Lane lane : kLanes) {
      const bool silent = runtime_.Now() >= Of(lane).last_heard + patience;
      if (silent && !HasAny()) Campaign(lane);
    }
  }
}

void Pilots::Campaign(Lane lane) {
  const auto replicas = static_cast<View>(runtime_.replicas());
  const auto self = static_cast<View>(runtime_.self());
  View next = view(lane) + 1;
  while (next % replicas != self) ++next;
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

bool Pilots::Ask(const TakeLane& request, EntryIndex& latest) {
  latest = user_.LatestKnown(request.lane);
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
  journal_.WhenDurable([quorum, own] { quorum->VoteYes(own); });
  quorum->Wait(kDeadAfterMin / 2);
  calls.Release();
  return quorum->Ready();
}

bool Pilots::WouldGrant(const TakeLane& request) const {
  const State& state = lanes_[Index(request.lane)];
  if (request.view <= state.view) return false;
  const bool lives = state.is_ours || runtime_.Now() < state.last_heard + kDeadAfterMin;
  return !request.pre_vote || !lives;
}

void Pilots::OnTakeLane(const TakeLane& request, const Responder<TakeLaneReply>& responder) {
  const bool granted = WouldGrant(request);
  if (granted && !request.pre_vote) Adopt(request.lane, request.view);
  const TakeLaneReply reply{granted, view(request.lane), user_.LatestKnown(request.lane)};
  journal_.WhenDurable([responder, reply] { responder.Send(reply); });
}

// ---- heartbeats ----

void Pilots::HeartbeatLoop(Lane lane) {
  runtime_.set_dependency(Dependency::Heartbeat());
  const View ours = view(lane);
  while (Has(lane) && view(lane) == ours) {
    ran_[static_cast<std::size_t>(runtime_.self())] = user_.RanUpTo();
    const Heartbeat request{lane, ours, user_.DecidedUpTo(), RanEverywhere()};
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

PerLane Pilots::RanEverywhere() const {
  PerLane least = ran_.front();
  for (const PerLane& each : ran_) {
    for (std::size_t lane = 0; lane < least.size(); ++lane) {
      least[lane] = std::min(least[lane], each[lane]);
    }
  }
  return least;
}

}  // namespace depfast::copilot

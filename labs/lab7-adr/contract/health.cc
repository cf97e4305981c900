#include "health.h"

#include <algorithm>

#include "diagnosis.h"

namespace depfast::adr {
namespace {

// A late answer is late, not lost: a network that is late by a second still has round trips.
constexpr Duration kAnswerMax = 3s;

}  // namespace

Health::Health(Runtime& runtime)
    : runtime_(runtime), meter_(runtime), processor_(meter_), disk_(work_) {
  for (const PeerId id : runtime.peers()) peers_.try_emplace(id, work_);
  runtime_.rpc().HandleInline<AskHealth>(
      [this](const AskHealth&, const Responder<HealthAnswer>& responder) {
        responder.Send({levels(), processor_.is_saturated()});
      });
}

void Health::Start() {
  runtime_.Spawn("health", [this] {
    runtime_.set_dependency(Dependency::Heartbeat());
    static_assert(kTickInterval == 2 * kAskInterval);
    for (bool is_tick = false;; is_tick = !is_tick) {
      if (is_tick) Tick();
      for (const PeerId id : runtime_.peers()) Ask(id);
      runtime_.Sleep(kAskInterval);
    }
  });
}

std::shared_ptr<DiskEvent> Health::MeasureSync(std::shared_ptr<DiskEvent> write,
                                               std::size_t bytes) {
  work_.AddWritten(bytes);
  disk_.OnBegin(runtime_.Now());
  runtime_.Spawn("health disk", [this, write, bytes, began = runtime_.Now()] {
    runtime_.set_dependency(Dependency::Heartbeat());
    write->Wait();
    disk_.OnEnd(runtime_.Now(), began, bytes);
  });
  return write;
}

void Health::Ask(PeerId id) {
  peers_.at(id).link.OnAsk(runtime_.Now());
  const auto call = runtime_.rpc().Call(id, AskHealth{}, kAnswerMax);
  runtime_.Spawn("health answer", [this, id, call, asked = runtime_.Now()] {
    if (call->Wait() == Outcome::kReady) {
      OnAnswer(id, asked, call->reply());
    } else {
      peers_.at(id).link.OnNoAnswer(asked);
    }
  });
}

void Health::OnAnswer(PeerId id, Time asked, const HealthAnswer& answer) {
  Peer& peer = peers_.at(id);
  peer.levels = answer.levels;
  peer.is_saturated = answer.is_saturated;
  peer.answered_at = runtime_.Now();
  peer.link.SetSaturated(processor_.is_saturated() || peer.is_saturated);
  peer.link.OnAnswer(runtime_.Now(), asked);
}

void Health::Tick() {
  const Time now = runtime_.Now();
  processor_.Tick(now);
  disk_.SetSaturated(IsAnybodySaturated());
  disk_.Tick(now);
  for (auto& [id, peer] : peers_) peer.link.Tick(now);
  if (suspicion().who == Suspicion::Who::kSelf) named_itself_at_ = now;
}

// The queue of a saturated leader makes all replicas' writes large.
bool Health::IsAnybodySaturated() const {
  return processor_.is_saturated() ||
         std::ranges::any_of(peers_, [](const auto& each) { return each.second.is_saturated; });
}

Levels Health::levels() const {
  Levels levels{.processor = processor_.level(), .disk = disk_.level()};
  for (const auto& [id, peer] : peers_) levels.links[id] = peer.link.level();
  return levels;
}

std::vector<PeerReport> Health::reports() const {
  std::vector<PeerReport> reports;
  for (const auto& [id, peer] : peers_) {
    if (!peer.answered_at) continue;
    reports.push_back({id, (runtime_.Now() - *peer.answered_at).count(), peer.levels});
  }
  return reports;
}

Suspicion Health::suspicion() const {
  return Diagnose(runtime_.self(), levels(), reports(), runtime_.replicas());
}

Duration Health::round_trip(PeerId peer) const {
  const Peer& known = peers_.at(peer);
  const bool is_recent = known.answered_at && runtime_.Now() - *known.answered_at <= kReportAgeMax;
  return is_recent ? known.link.round_trip().value_or(0ns) : 0ns;
}

bool Health::sends_clients_away() const {
  const Suspicion now = suspicion();
  std::optional<Duration> since;
  if (now.who == Suspicion::Who::kSelf) {
    since = Duration::zero();
  } else if (named_itself_at_) {
    since = runtime_.Now() - *named_itself_at_;
  }
  return SendsClientsAway(now, since, reports(), runtime_.replicas());
}

}  // namespace depfast::adr

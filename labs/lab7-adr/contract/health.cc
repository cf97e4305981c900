#include "health.h"

#include <algorithm>
#include <string>
#include <utility>

#include "depfast/event.h"
#include "depfast/rpc_event.h"
#include "diagnosis.h"
#include "handover_messages.h"
#include "health_claims.h"

namespace depfast::adr {
namespace {

// A late answer is late, not lost: a network that is late by a second still has round trips.
constexpr Duration kAnswerMax = 3s;

// A pause. Its words are "claims" and the kind and values of each, which replays read.
class Pause final : public Event {
 public:
  explicit Pause(const Health& health) : health_(health) {}

  bool IsReady() const override { return false; }
  const char* Label() const override { return "timeout"; }
  std::string Describe() const override {
    std::string words = "claims";
    for (const Observation& claim : health_.claims()) {
      words += " " + std::to_string(claim.kind);
      for (const std::uint64_t value : claim.values) words += "," + std::to_string(value);
    }
    return words;
  }

 private:
  const Health& health_;
};

}  // namespace

Health::Health(Runtime& runtime)
    : runtime_(runtime), meter_(runtime, disk_), processor_(meter_), disk_(work_) {
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
      std::make_shared<Pause>(*this)->Wait(kAskInterval);
    }
  });
}

std::shared_ptr<DiskEvent> Health::MeasureSync(std::shared_ptr<DiskEvent> write,
                                               std::size_t bytes) {
  work_.AddWritten(bytes);
  disk_.OnAsk(runtime_.Now());
  runtime_.Spawn("health disk", [this, write, bytes, asked = runtime_.Now()] {
    runtime_.set_dependency(Dependency::Heartbeat());
    write->Wait();
    disk_.OnEnd(runtime_.Now(), asked, bytes);
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
  sends_clients_away_ = SendsClientsAwayNow();
  for (const Observation& claim : claims()) Claim(runtime_, claim);
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

bool Health::SendsClientsAwayNow() const {
  const Suspicion now = suspicion();
  std::optional<Duration> since;
  if (now.who == Suspicion::Who::kSelf) {
    since = Duration::zero();
  } else if (named_itself_at_) {
    since = runtime_.Now() - *named_itself_at_;
  }
  return SendsClientsAway(now, since, reports(), runtime_.replicas());
}

// ---- claims ----

void Health::Meter::OnStepEnd(const Runtime& runtime, const StepUsage& usage) {
  ProcessorMeter::OnStepEnd(runtime, usage);
  disk_.OnStepEnd(usage);
}

void Health::Meter::OnCall(const Runtime& runtime, const Task&, const RpcCall& call) {
  if (call.method() != raft::TimeoutNow::kMethod) return;
  successor = call.peer();
  handed_over = runtime.Now();
}

std::vector<Observation> Health::claims() const {
  std::vector<Observation> claims;
  const auto add = [&claims](HealthClaim kind, const Vital& vital) {
    const auto us = [](Duration time) { return static_cast<std::uint64_t>(time / 1us); };
    if (!vital.value()) return;
    const auto level = static_cast<std::uint64_t>(vital.level());
    claims.push_back({kind, {level, us(*vital.value()), us(vital.detector().threshold())}});
  };
  add(kProcessorClaim, processor_.vital());
  add(kDiskClaim, disk_.vital());
  const auto slowest = std::ranges::max_element(peers_, {}, [](const auto& each) {
    const Vital& vital = each.second.link.vital();
    return std::pair(vital.level(), vital.value().value_or(0ns));
  });
  if (slowest != peers_.end()) add(kNetworkClaim, slowest->second.link.vital());
  const auto [who, peer, resource] = suspicion();
  const bool is_peer = who == Suspicion::Who::kPeer;
  claims.push_back(
      {kSuspicionClaim, {static_cast<std::uint64_t>(is_peer ? 4 + peer : static_cast<int>(who))}});
  if (meter_.successor != kNobody) {
    claims.push_back({kHandoverClaim,
                      {static_cast<std::uint64_t>(meter_.successor),
                       static_cast<std::uint64_t>(meter_.handed_over.count())}});
  }
  return claims;
}

}  // namespace depfast::adr

#include "testkit/verification.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "depfast/host/frame.h"
#include "depfast/verify/fact_collector.h"
#include "depfast/verify/verification_json.h"

namespace depfast::testkit {

namespace {

// A replica reports the ids that its group uses.
void NameByAddress(const Groups& groups, PeerId replica, WindowFacts& facts) {
  const auto name = [&, group = groups.GroupOf(replica)](PeerId& peer) {
    peer = groups.AddressIn(group, peer);
  };
  facts.replica = replica;
  facts.replicas = groups.replicas();
  for (WaitFacts& wait : facts.waits) std::ranges::for_each(wait.peers, name);
  for (CallFacts& call : facts.calls) name(call.peer);
  for (PeerPresence& peer : facts.presence) name(peer.peer);
  for (QuorumFacts& quorum : facts.quorums) {
    for (QuorumVoter& voter : quorum.voters) name(voter.peer);
  }
  for (FanOutFacts& fan_out : facts.fan_outs) std::ranges::for_each(fan_out.peers, name);
}

void NameByAddress(const Groups& groups, PeerId replica, Warning& warning) {
  const auto name = [&, group = groups.GroupOf(replica)](PeerId& peer) {
    peer = groups.AddressIn(group, peer);
  };
  warning.replica = replica;
  std::ranges::for_each(warning.peers, name);
  for (PeerPresence& peer : warning.active) name(peer.peer);
}

}  // namespace

Verification::Verification(sim::Simulator& simulator)
    : simulator_(simulator),
      next_collect_(simulator.now() + kVerificationWindow),
      clients_(simulator.replicas()) {
  simulator.AddObserver(this);
}

void Verification::Collect() {
  const Groups& groups = simulator_.groups();
  for (PeerId replica = 0; replica < simulator_.replicas(); ++replica) {
    if (!simulator_.IsUp(replica)) continue;
    auto windows = FactCollector::Read(simulator_.Report(replica, FactCollector::kName));
    if (!windows) continue;
    for (WindowFacts& facts : *windows) {
      const int group = groups.GroupOf(replica);
      facts.replica = groups.IdIn(group, replica);
      facts.replicas = groups.size(group);
      facts.clients.clear();  // measured here
      facts_[{replica, facts.begin_ns}] = std::move(facts);
    }
  }
}

std::vector<WindowFacts> Verification::Facts() const {
  std::vector<WindowFacts> facts;
  for (const auto& [key, each] : facts_) {
    NameByAddress(simulator_.groups(), key.first, facts.emplace_back(each));
  }
  return facts;
}

std::vector<Warning> Verification::Warnings() const {
  std::vector<Warning> all;
  for (const auto& [key, facts] : facts_) {
    auto warnings = WarningsOf(facts);
    for (Warning& warning : warnings) NameByAddress(simulator_.groups(), key.first, warning);
    std::move(warnings.begin(), warnings.end(), std::back_inserter(all));
  }
  return all;
}

SlownessGraph Verification::Graph() const {
  SlownessGraph graph = clients_;
  for (const WindowFacts& facts : Facts()) graph.Add(facts);
  return graph;
}

std::string Verification::Json() const {
  return "{\"warnings\": " + JsonOf(Warnings()) + ", \"graph\": " + JsonOf(Graph()) + "}";
}

void Verification::OnStep(PeerId, const sim::StepInput& input, const sim::StepOutput& output) {
  // A replica that has died in this step gives no report.
  if (input.now < next_collect_ || !output.death.empty()) return;
  next_collect_ = input.now + kVerificationWindow;
  Collect();
}

void Verification::OnFrame(sim::FrameStage stage, PeerId from, PeerId to, Time now,
                           const Bytes& bytes) {
  const bool asks = from >= kFirstClient && stage == sim::FrameStage::kQueued;
  const bool answers = to >= kFirstClient && stage == sim::FrameStage::kArrived;
  if (!asks && !answers) return;
  std::string error;
  const auto frame = DecodeFrame(*bytes, error);
  if (!frame) return;
  if (asks) {
    client_calls_[{from, frame->header.call}] = now;
    return;
  }
  const auto call = client_calls_.find({to, frame->header.call});
  if (call == client_calls_.end()) return;
  clients_.AddClientWait(to, from, now - call->second);
  client_calls_.erase(call);
}

}  // namespace depfast::testkit

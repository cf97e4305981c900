#include "testkit/verification.h"

#include <iterator>
#include <optional>

#include "depfast/host/frame.h"
#include "depfast/verify/fact_collector.h"
#include "depfast/verify/verification_json.h"

namespace depfast::testkit {

Verification::Verification(sim::Simulator& simulator)
    : simulator_(simulator),
      next_collect_(simulator.now() + kVerificationWindow),
      clients_(simulator.replicas()) {
  simulator.AddObserver(this);
}

void Verification::Collect() {
  for (PeerId replica = 0; replica < simulator_.replicas(); ++replica) {
    if (!simulator_.IsUp(replica)) continue;
    auto windows = FactCollector::Read(simulator_.Report(replica, FactCollector::kName));
    if (!windows) continue;
    for (WindowFacts& facts : *windows) {
      facts.replica = replica;
      facts.replicas = simulator_.replicas();
      facts.clients.clear();  // measured here
      facts_[{replica, facts.begin_ns}] = std::move(facts);
    }
  }
}

std::vector<WindowFacts> Verification::Facts() const {
  std::vector<WindowFacts> facts;
  for (const auto& [key, each] : facts_) facts.push_back(each);
  return facts;
}

std::vector<Warning> Verification::Warnings() const {
  std::vector<Warning> all;
  for (const auto& [key, facts] : facts_) {
    auto warnings = WarningsOf(facts);
    std::move(warnings.begin(), warnings.end(), std::back_inserter(all));
  }
  return all;
}

SlownessGraph Verification::Graph() const {
  SlownessGraph graph = clients_;
  for (const auto& [key, facts] : facts_) graph.Add(facts);
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

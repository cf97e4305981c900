// Verification: runtime verification of a simulated cluster, from the reports of its replicas.
//
//   sim::SimOptions options; options.probes = {FactCollector::kName};
//   Verification verification(simulator);
//   simulator.RunFor(20s);
//   verification.Collect();
//   for (const Warning& warning : verification.Warnings()) ...
//
// It works with sealed replicas, too: they report facts, the verdicts are made here. The waits of
// clients are measured here, from their frames. Verification leaves a run's trace hash the same.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "depfast/verify/slowness_graph.h"
#include "depfast/verify/warnings.h"
#include "sim/observer.h"
#include "sim/simulator.h"

namespace depfast::testkit {

class Verification : private sim::Observer {
 public:
  // Requires: called before the simulator's first event; outlives its last one. The replicas make
  // the probe FactCollector::kName.
  explicit Verification(sim::Simulator& simulator);

  // Takes the reports of the replicas that are up. It happens by itself once a window; a crash
  // loses the facts since then. Call it at the end of a run, while the simulator lives.
  void Collect();

  // The facts of all windows so far, in the order of replicas and windows.
  std::vector<WindowFacts> Facts() const;
  std::vector<Warning> Warnings() const;
  SlownessGraph Graph() const;
  // {"warnings": [..], "graph": {..}}
  std::string Json() const;

 private:
  using CallKey = std::pair<PeerId, CallId>;  // client, its call

  void OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput& output) override;
  void OnFrame(sim::FrameStage stage, PeerId from, PeerId to, Time now,
               const Bytes& frame) override;

  sim::Simulator& simulator_;
  Time next_collect_;
  // By the replica's address and the window's begin; inside, replicas are named by their ids.
  std::map<std::pair<PeerId, std::int64_t>, WindowFacts> facts_;
  std::map<CallKey, Time> client_calls_;  // that are not answered
  SlownessGraph clients_;                 // their waits alone
};

}  // namespace depfast::testkit

// Cluster: the replicas under test in a simulated world, and the actions of a test on them.
//
//   Cluster cluster({.replicas = 5, .seed = 7});
//   cluster.Start();
//   cluster.Partition({0, 1});
//   ASSERT_TRUE(cluster.RunUntil([&] { return leader_of_the_rest(); }, 2s));
//
// A test owns its cluster alone: nothing is shared, and each test can run by itself. When a test
// fails, the cluster's destructor records the end of the numbered history and the seed; it always
// records the trace hash.
#pragma once

#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "faults/fault.h"
#include "sim/simulator.h"
#include "testkit/environment.h"
#include "testkit/history.h"
#include "testkit/recorder.h"

namespace depfast::testkit {

class Verification;

struct ClusterOptions {
  int replicas = 3;              // ignored if there are groups
  std::vector<int> groups = {};  // their sizes, see Groups; empty: one group
  // The number of this world among the test's, combined with the --seed of the run.
  std::uint64_t seed = 1;
  sim::Profile profile = sim::Profile::Lab();
  std::vector<std::string> probes = {};  // see sim::ReplicaConfig
};

// The seed of a simulator: of the run's --seed, and of ClusterOptions::seed.
std::uint64_t SeedOf(std::uint64_t world);

class Cluster : private sim::Observer {
 public:
  explicit Cluster(const ClusterOptions& options);
  ~Cluster() override;

  void Start() { simulator_.Start(); }

  Time now() const { return simulator_.now(); }
  // Replicas of all groups. A replica's number is its address in the cluster, here and in faults.
  int replicas() const { return simulator_.replicas(); }
  const Groups& groups() const { return simulator_.groups(); }
  void RunFor(Duration duration) { simulator_.RunFor(duration); }

  // Runs until `done` (asked after every event) or for `at_most`. Returns whether it is done. When
  // it is not, the suspended coroutines of every replica go into the history: a stall explains
  // itself.
  bool RunUntil(const std::function<bool()>& done, Duration at_most);

  void Crash(PeerId replica) { simulator_.Crash(replica); }
  void Restart(PeerId replica) { simulator_.Restart(replica); }
  // Cuts `side` off from the other replicas, until Heal.
  void Partition(std::vector<PeerId> side) { Begin(faults::PartitionFault(std::move(side))); }
  void Begin(const faults::Fault& fault) { simulator_.Begin(fault); }
  void End(const faults::Fault& fault) { simulator_.End(fault); }
  void Schedule(const faults::FaultPlan& plan) { simulator_.Schedule(plan); }
  // Ends all faults and restarts dead replicas.
  void Heal() { simulator_.HealAll(); }

  // Empty, or why the first replica died that the test did not crash.
  const std::string& first_death() const { return simulator_.first_death(); }

  sim::Simulator& simulator() { return simulator_; }
  History& history() { return history_; }
  void Note(const std::string& what) { history_.Add(now(), what); }
  Recorder* recorder() { return recorder_.get(); }  // null unless this run is recorded

 private:
  void OnWorld(Time now, const std::string& what) override { history_.Add(now, what); }
  void RecordStall();
  void Report();

  History history_;
  std::ofstream trace_file_;
  std::unique_ptr<Recorder> recorder_;          // null unless this run is recorded
  std::unique_ptr<Verification> verification_;  // likewise
  sim::Simulator simulator_;
};

}  // namespace depfast::testkit

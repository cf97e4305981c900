// CatchUp: a replica that is behind asks another one for the decisions that it has missed, or for a
// snapshot where those are thrown away. Given, not submitted.
//
// It asks at its own pace: a slow replica is never sent more than it has asked for. Logs are cut,
// so that no entry before a cut depends on one behind it.
#pragma once

#include <cstddef>
#include <string>

#include "lanes.h"
#include "replicated_log.h"

namespace depfast::copilot {

class CatchUp {
 public:
  // All must outlive this. A snapshot holds `machine` and the progress of `lanes`, and replaces
  // both.
  CatchUp(Runtime& runtime, StateMachine& machine, Lanes& lanes)
      : runtime_(runtime), machine_(machine), lanes_(lanes) {}

  // Serves other replicas from now on.
  void Serve();
  // See CopilotBase.
  void Lacks(Lane lane, EntryIndex up_to, PeerId peer);
  void Restore(const StoredSnapshot& snapshot);
  // Cuts the logs if they are large. Call it after each entry.
  void CompactIfLarge();
  // Throws away entries up to here, as far as they have run and a cut allows.
  void Truncate(const PerLane& up_to);

 private:
  void LearnLoop();
  bool LearnFrom(PeerId peer, Lane lane);
  LearnReply DecisionsFrom(const Learn& request) const;
  bool FetchSnapshotFrom(PeerId peer);
  FetchSnapshotReply PartOf(const FetchSnapshot& request);
  StoredSnapshot MakeSnapshot() const;
  void DrawLimit();
  EntryIndex BeforeRetained(Lane lane) const;
  PerLane CutBefore(PerLane up_to) const;

  Runtime& runtime_;
  StateMachine& machine_;
  Lanes& lanes_;
  PeerId peer_ = kNobody;  // the next to ask
  PerLane up_to_{};        // decisions that somebody has
  bool is_learning_ = false;
  std::size_t compact_above_ = 0;  // bytes of commands in memory and on the disk
  // The snapshot that others are fetching.
  SnapshotId served_id_;
  std::string served_;
};

}  // namespace depfast::copilot

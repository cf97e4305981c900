// Learner: a replica asks for the decisions that it has missed, and tells others of its own. Given,
// not submitted.
//
// It asks at its own pace: a slow replica is never sent more than it has asked for.
#pragma once

#include "copilot_messages.h"
#include "decisions.h"
#include "depfast/runtime.h"
#include "snapshots.h"

namespace depfast::copilot {

// An answer to a question about the past takes at most so long, or another replica is asked.
inline constexpr Duration kLearnPatience = 1s;

class Learner {
 public:
  // All must outlive this.
  Learner(Runtime& runtime, Decisions& decisions, Snapshots& snapshots);

  // Serves other replicas from now on.
  void Serve();

  // This replica lacks decisions up to there, which `peer` has. Asks for them, in the background.
  void Lacks(Lane lane, EntryIndex up_to, PeerId peer);

 private:
  // The result of asking a peer for its decisions. One that has thrown them away has a snapshot.
  enum class Learned : std::uint8_t { kNothing, kSome, kAreGone };

  void Loop();
  Learned LearnSome(PeerId peer, Lane lane);
  LearnReply DecisionsFrom(Lane lane, EntryIndex first) const;

  Runtime& runtime_;
  Decisions& decisions_;
  Snapshots& snapshots_;
  PeerId peer_ = kNobody;  // the next to ask
  PerLane up_to_{};
  bool is_learning_ = false;
};

}  // namespace depfast::copilot

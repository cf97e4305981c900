// Beats: what a replica does in time. A leader's beats, a follower's silence, and flushes.
#pragma once

#include <cstdint>

#include "catch_up.h"
#include "elections.h"
#include "leadership.h"
#include "replica_state.h"
#include "rounds.h"
#include "saucr_base.h"

namespace depfast::saucr {

class Beats {
 public:
  // All must outlive this.
  Beats(ReplicaState& state, Elections& elections, Leadership& leadership, CatchUp& catch_up,
        Rounds& rounds, SaucrHooks& hooks);

  // This replica takes part: it watches for silence, and flushes, in the background.
  void Begin();
  // This replica leads the term.
  void Lead(std::uint64_t term);
  // The connection to a peer is broken.
  void OnLost(PeerId peer);
  void BeginSilence();

 private:
  void BeatLoop(std::uint64_t term);
  void EndBeat();
  void SilenceLoop();
  void FlushLoop();

  ReplicaState& state_;
  Elections& elections_;
  Leadership& leadership_;
  CatchUp& catch_up_;
  Rounds& rounds_;
  SaucrHooks& hooks_;
};

}  // namespace depfast::saucr

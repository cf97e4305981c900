// The operator of IASO, outside the replicas: it restarts or stops the one that is accused
// (document 004, section 6.3).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "depfast/peer.h"
#include "depfast/time.h"
#include "group.h"
#include "handover_messages.h"
#include "sim/simulator.h"

namespace depfast::adr {

enum class Remedy : std::uint8_t { kHandOver, kRestart, kShutdown };

struct Accusation {
  PeerId replica;
  Remedy remedy;
};

// The latest one, until the operator has taken it.
inline std::optional<Accusation>& TheAccusation() {
  static std::optional<Accusation> latest;
  return latest;
}

class Operator final : public sim::Observer {
 public:
  // It owns this.
  explicit Operator(sim::Simulator& simulator) : simulator_(simulator) {}

  void OnStep(PeerId, const sim::StepInput& input, const sim::StepOutput&) override {
    const auto accused = std::exchange(TheAccusation(), std::nullopt);
    if (!accused || input.now < rest_until_ || !AreAllUp()) return;
    rest_until_ = input.now + raft::kRestMin;
    simulator_.Crash(accused->replica, "its score is far above its peers'");
    if (accused->remedy != Remedy::kRestart) return;
    simulator_.At(input.now + kRestart, [this, replica = accused->replica] {
      Place::NextIs(replica);
      simulator_.Restart(replica);
    });
  }

 private:
  static constexpr Duration kRestart = 1s;  // ours: from the end of a process to its next start

  bool AreAllUp() const {
    for (PeerId replica = 0; replica < simulator_.replicas(); ++replica) {
      if (!simulator_.IsUp(replica)) return false;
    }
    return true;
  }

  sim::Simulator& simulator_;
  Time rest_until_{0};  // as between hand-overs
};

}  // namespace depfast::adr

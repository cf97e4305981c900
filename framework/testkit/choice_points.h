// ChoicePoints: the deviations that were possible in a run, each with the state before it.
//
// A message between replicas can be late when it is sent, and lost when it arrives. A replica can
// crash, or be cut off, after the outputs of a step have left, and crash after a part of its writes
// has reached the disk. Each deviation is a fault at an exact time, so it changes nothing before.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "faults/fault.h"
#include "sim/observer.h"
#include "sim/simulator.h"
#include "testkit/explorer.h"
#include "testkit/world_state.h"

namespace depfast::testkit {

// The strengths of each deviation; each is tried in every strength. Choose a short one, after which
// nobody has noticed it, and one that is longer than the replicas' patience.
struct Deviations {
  std::vector<Duration> delays;     // of a message that younger ones may overtake
  std::vector<Duration> stalls;     // of a message and of those behind it on its connection
  std::vector<Duration> downtimes;  // of a crashed replica
  std::vector<Duration> cuts;       // how long a replica is cut off
};

class ChoicePoints : private sim::Observer {
 public:
  // Watches `simulator` from now on. Requires: called before its first event; outlives it.
  ChoicePoints(sim::Simulator& simulator, const Deviations& deviations);

  // In order of time. There is none before the first message between replicas.
  const std::vector<Choice>& choices() const { return choices_; }
  std::uint64_t state() const { return state_.Hash(); }

 private:
  // Just after an event of a replica: whether it may be cut off, too, and not only crash.
  struct Moment {
    PeerId replica;
    Time when;
    bool after_outputs;
  };

  void OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput& output) override;
  void OnOutputsLeave(PeerId replica, Time now, const std::vector<sim::Output>& outputs) override;
  void OnDisk(PeerId replica, Time now, const sim::SimDisk& disk) override;
  void OnFrame(sim::FrameStage stage, PeerId from, PeerId to, Time now,
               const Bytes& frame) override;

  using Way = std::pair<PeerId, PeerId>;  // from, to

  void Add(const faults::Fault& deviation, std::uint64_t state) {
    choices_.push_back({deviation, state});
  }
  // Adds the choices of the moments before `now`: at once their states would lack the events of the
  // same instant.
  void CatchUp(Time now);

  const Deviations deviations_;
  std::vector<Moment> moments_;
  // Messages of one connection and one instant share their fate.
  std::map<Way, Time> last_sent_;
  std::map<Way, Time> last_arrived_;
  bool begun_ = false;  // a message between replicas was sent
  std::vector<Choice> choices_;
  // Hears of an event after this does: the state of a choice is the state before the event.
  WorldState state_;
};

}  // namespace depfast::testkit

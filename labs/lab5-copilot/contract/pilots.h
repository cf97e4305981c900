// Pilots: which replica proposes in which lane, and the change of a dead pilot. Given, not
// submitted.
//
// At the first start replicas 0 and 1 have the lanes. A pilot sends heartbeats. A replica that is
// no pilot and hears nothing in a lane for a while asks for that lane, first by a pre-vote: so a
// replica that wakes from a pause deposes nobody. A replica that starts again has no lane until it
// asks for one, because it may have forgotten what it proposed.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "lanes.h"

namespace depfast::copilot {

inline constexpr Duration kHeartbeatInterval = 100ms;
// A pilot that is silent for this time is dead. The patience is drawn anew for each wait.
inline constexpr Duration kDeadAfterMin = 1s;
inline constexpr Duration kDeadAfterMax = 2s;

class Pilots {
 public:
  // All must outlive this.
  Pilots(Runtime& runtime, Lanes& lanes, LaneUser& user)
      : runtime_(runtime),
        lanes_(lanes),
        user_(user),
        ran_(static_cast<std::size_t>(runtime.replicas())) {}

  // Registers handlers, and begins with the views of the journal. Requires: recovered.
  void Start(const Recovered& recovered);

  View view(Lane lane) const { return At(states_, lane).view; }
  // The replica that the view belongs to.
  PeerId owner(Lane lane) const { return OwnerOf(view(lane), runtime_.replicas()); }
  // Whether this replica may propose in the lane.
  bool Has(Lane lane) const { return At(states_, lane).is_ours; }
  bool Has(Lane lane, View view) const { return Has(lane) && this->view(lane) == view; }
  bool HasAny() const { return Has(Lane::kPilot) || Has(Lane::kCopilot); }

  // Whether this replica has had the lane in that view, since it started.
  bool HasHad(Lane lane, View view) const;

  // A message of this view has come. False if the view is old: refuse the message. Hear: from the
  // pilot of that view, which lives.
  bool Know(Lane lane, View view);
  bool Hear(Lane lane, View view);

 private:
  struct State {
    View view = 0;
    bool is_ours = false;
    std::optional<View> first_of_ours;  // since this replica started
    Time last_heard{0};
  };

  void Adopt(Lane lane, View view);
  void Have(Lane lane);
  void Observe();
  void WatchLoop();
  void Campaign(Lane lane);
  bool Ask(const TakeLane& request, EntryIndex& latest);
  void OnTakeLane(const TakeLane& request, const Responder<TakeLaneReply>& responder);
  void HeartbeatLoop(Lane lane);

  Runtime& runtime_;
  Lanes& lanes_;
  LaneUser& user_;
  std::array<State, 2> states_;
  std::vector<PerLane> ran_;  // by replica: as it has said last
};

}  // namespace depfast::copilot

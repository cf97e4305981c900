// Random messages. In a world, those that have the same lane, view or ballot, and entry are the
// same.
#pragma once

#include <cstdint>
#include <string>

#include "copilot_messages.h"
#include "depfast/host/random.h"
#include "stage.h"

namespace depfast::copilot {

// The entries of a group, in each lane. The next group depends on none of this group.
inline constexpr EntryIndex kGroup = 3;
constexpr EntryIndex BeforeGroupOf(EntryIndex index) { return (index - 1) / kGroup * kGroup; }

// One of the first `count` views from `first` on that belong to the same replica of three.
inline View AnyView(RandomStream& random, View first, std::uint64_t count) {
  return first + 3 * random.Below(count);
}

// Gives equal numbers to equal messages of a world.
inline RandomStream Of(Lane lane, std::uint64_t of, EntryIndex index, std::uint64_t world) {
  return RandomStream(of, static_cast<std::uint64_t>(lane) + 2 * world, index);
}

inline FastAccept AProposal(Lane lane, View view, EntryIndex index, std::uint64_t world = 0) {
  RandomStream same = Of(lane, view, index, world);
  const auto witness = static_cast<std::int32_t>(same.Below(3));
  const EntryIndex dependency = BeforeGroupOf(index) + same.Below(kGroup + 1);
  const std::uint64_t name = 10'000 * view + 10 * index + static_cast<std::uint64_t>(lane);
  return {lane, view, index, dependency, witness, CommandNumber(name)};
}
inline Accept AnAccept(Lane lane, Ballot ballot, EntryIndex index, std::uint64_t world = 0) {
  RandomStream same = Of(lane, ballot, index, world);
  const View origin = AnyView(same, static_cast<View>(lane), 1 + ViewOf(ballot) / 3);
  const FastAccept proposal = AProposal(lane, origin, index, world);
  if (same.Below(4) == 0) return {lane, ballot, index, true, proposal.dependency, 0, 0, {}};
  return {lane,
          ballot,
          index,
          false,
          proposal.dependency,
          proposal.dependency + same.Below(2),
          origin,
          proposal.commands};
}
inline Commit ACommit(Lane lane, View view, EntryIndex index, std::uint64_t world = 0) {
  RandomStream same = Of(lane, 99, index, world);
  if (same.Below(3) == 0) return {lane, index, true, 0, 0};
  return {lane, index, false, BeforeGroupOf(index) + same.Below(kGroup + 1), view};
}

// ---- in words ----

inline std::string NameOf(Lane lane, EntryIndex index) {
  return (lane == Lane::kPilot ? "P." : "Q.") + std::to_string(index);
}

inline std::string Words(Ballot ballot) {
  const Ballot number = ballot - FirstBallot(ViewOf(ballot));
  return "ballot " + std::to_string(number) + " of view " + std::to_string(ViewOf(ballot));
}

inline std::string Words(bool no_op, EntryIndex dependency) {
  return no_op ? "a no-op" : "dependency " + std::to_string(dependency);
}

inline std::string Words(const FastAccept& request) {
  return "view " + std::to_string(request.view) + ", " + Words(false, request.dependency);
}

inline std::string Words(const Accept& request) {
  return Words(request.ballot) + ", " + Words(request.no_op, request.dependency);
}

inline std::string Words(const Prepare& request) {
  const auto initial = "initial dependency " + std::to_string(request.initial);
  return Words(request.ballot) + (request.knows_initial ? ", " + initial : "");
}

inline std::string Words(const Commit& request) { return Words(request.no_op, request.dependency); }

}  // namespace depfast::copilot

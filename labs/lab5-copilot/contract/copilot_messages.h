// The messages of Copilot (Ngo, Sen, Lloyd, OSDI 2020). Given, not submitted: tests read these
// frames.
//
// A reply leaves when what it says is durable, unless the replica keeps its log in memory alone. A
// message of an old view is refused; one of a newer view begins that view at the receiver.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "copilot_types.h"
#include "depfast/carried_entries.h"
#include "depfast/host/frame.h"

namespace depfast::copilot {

// Commands with the same name are one, which runs once: both pilots may be given it, and one twice.
struct Command {
  std::uint64_t name = 0;  // the client's request
  std::string text;        // empty for a read, which only waits for its turn
  friend bool operator==(const Command&, const Command&) = default;
  DEPFAST_FIELDS(name, text)
};

using Commands = std::vector<Command>;

// A replica's vote for a proposal.
struct FastAcceptReply {
  View view = 0;              // the replier's, of this lane
  bool recorded = false;      // refused otherwise: by the view, a promise, an Accept or a decision
  EntryIndex dependency = 0;  // as recorded; a fast-accept if it is the proposed one
  DEPFAST_FIELDS(view, recorded, dependency)
};

struct FastAccept {
  using Reply = FastAcceptReply;
  static constexpr MethodId kMethod = 20;
  static constexpr const char* kName = "FastAccept";
  Lane lane = Lane::kPilot;
  View view = 0;
  EntryIndex index = 0;
  EntryIndex dependency = 0;
  std::int32_t witness = 0;  // see Record
  Commands commands;

  // For runtime verification (depfast/carried_entries.h).
  CarriedEntries Carried() const { return {view * 2 + static_cast<View>(lane), index, index + 1}; }
  DEPFAST_FIELDS(lane, view, index, dependency, witness, commands)
};

struct AcceptReply {
  bool accepted = false;
  Ballot promised = 0;  // the replier's; the higher one if refused
  DEPFAST_FIELDS(accepted, promised)
};

// On the slow path at the first ballot of the view, or by a taker.
struct Accept {
  using Reply = AcceptReply;
  static constexpr MethodId kMethod = 21;
  static constexpr const char* kName = "Accept";
  Lane lane = Lane::kPilot;
  Ballot ballot = 0;
  EntryIndex index = 0;
  bool no_op = false;
  EntryIndex initial = 0;  // 0 if unknown
  EntryIndex dependency = 0;
  View origin = 0;    // the view in which the commands were proposed: it identifies them
  Commands commands;  // none for a no-op
  DEPFAST_FIELDS(lane, ballot, index, no_op, initial, dependency, origin, commands)
};

struct CommitReply {
  bool known = false;
  DEPFAST_FIELDS(known)
};

// The decision, for those who have the commands of that origin. The others ask for them (Learn).
struct Commit {
  using Reply = CommitReply;
  static constexpr MethodId kMethod = 22;
  static constexpr const char* kName = "Commit";
  Lane lane = Lane::kPilot;
  EntryIndex index = 0;
  bool no_op = false;
  EntryIndex dependency = 0;
  View origin = 0;
  DEPFAST_FIELDS(lane, index, no_op, dependency, origin)
};

struct PrepareReply {
  bool promised = false;
  bool is_gone = false;  // refused: the entry has run, and is thrown away
  Ballot ballot = 0;     // the replier's promise; the higher one if refused
  Record record = {};    // before the promise
  View origin = 0;
  Commands commands = {};  // of the record
  // Behind the initial dependency of the request, or else of a record that is kFastAccepted or
  // kSuggested.
  std::vector<Rival> rivals = {};
  bool decides = false;  // the replier proposed it, and has not started again since
  DEPFAST_FIELDS(promised, is_gone, ballot, record, origin, commands, rivals, decides)
};

// A replica takes an entry over.
struct Prepare {
  using Reply = PrepareReply;
  static constexpr MethodId kMethod = 23;
  static constexpr const char* kName = "Prepare";
  Lane lane = Lane::kPilot;
  Ballot ballot = 0;
  EntryIndex index = 0;
  bool knows_initial = false;
  EntryIndex initial = 0;
  DEPFAST_FIELDS(lane, ballot, index, knows_initial, initial)
};

struct TakeLaneReply {
  bool granted = false;
  View view = 0;          // the replier's
  EntryIndex latest = 0;  // the latest entry of the lane that the replier knows
  DEPFAST_FIELDS(granted, view, latest)
};

// A replica that is no pilot wants the lane of a dead one. Pre-vote: asks whether it would get the
// lane, and changes nothing. A replica refuses a pre-vote while it hears of the lane's pilot.
struct TakeLane {
  using Reply = TakeLaneReply;
  static constexpr MethodId kMethod = 24;
  static constexpr const char* kName = "TakeLane";
  Lane lane = Lane::kPilot;
  View view = 0;  // the candidate's: OwnerOf(view)
  bool pre_vote = false;
  DEPFAST_FIELDS(lane, view, pre_vote)
};

struct HeartbeatReply {
  View view = 0;
  PerLane ran{};  // the entries that the replier has run
  DEPFAST_FIELDS(view, ran)
};

struct Heartbeat {
  using Reply = HeartbeatReply;
  static constexpr MethodId kMethod = 25;
  static constexpr const char* kName = "Heartbeat";
  Lane lane = Lane::kPilot;
  View view = 0;
  PerLane decided{};  // the sender knows the decisions of all entries up to here
  PerLane ran_everywhere{};
  DEPFAST_FIELDS(lane, view, decided, ran_everywhere)
};

// The value that is decided for an entry, with its commands.
struct Decided {
  Value value;
  EntryIndex initial = 0;  // the dependency with which the entry was proposed; 0 if unknown
  View origin = 0;         // the view in which the commands were proposed
  Commands commands;
  DEPFAST_FIELDS(value.no_op, value.dependency, origin, commands)  // not `initial`
};

struct LearnReply {
  EntryIndex base = 0;             // the replier has thrown away the entries up to here
  std::vector<Decided> decisions;  // of entry `first` and those after it, without a gap
  DEPFAST_FIELDS(base, decisions)
};

// Asks for decisions. A replica that has fallen behind asks at its own pace.
struct Learn {
  using Reply = LearnReply;
  static constexpr MethodId kMethod = 26;
  static constexpr const char* kName = "Learn";
  Lane lane = Lane::kPilot;
  EntryIndex first = 0;
  DEPFAST_FIELDS(lane, first)
};

// A snapshot's name and size.
struct SnapshotId {
  std::uint64_t commands = 0;  // that have run
  PerLane ran{};
  std::uint64_t bytes = 0;
  friend bool operator==(const SnapshotId&, const SnapshotId&) = default;
  DEPFAST_FIELDS(commands, ran, bytes)
};

struct FetchSnapshotReply {
  SnapshotId id;
  std::string data;  // from the offset on; of another snapshot than asked for: from its begin on
  DEPFAST_FIELDS(id, data)
};

// Asks for a part of a snapshot.
struct FetchSnapshot {
  using Reply = FetchSnapshotReply;
  static constexpr MethodId kMethod = 27;
  static constexpr const char* kName = "FetchSnapshot";
  SnapshotId id;  // all 0 for any
  std::uint64_t offset = 0;
  DEPFAST_FIELDS(id, offset)
};

}  // namespace depfast::copilot

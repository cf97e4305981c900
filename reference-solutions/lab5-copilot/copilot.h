// Copilot (Ngo, Sen, Lloyd, OSDI 2020): no single slow replica costs the others, a leader included.
//
// Each command is given to two pilots. Each pilot orders it in its own lane, so one of them may be
// slow. A round has a fast path and a slow path, which are two quorums over the same calls
// (document 002, section 5.2). Entries run in an order that both lanes agree on. A pilot that waits
// for the other one's entry too long takes that entry over.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command_memory.h"
#include "copilot_messages.h"
#include "copilot_observations.h"
#include "copilot_rules.h"
#include "copilot_types.h"
#include "depfast/broadcast.h"
#include "depfast/runtime.h"
#include "depfast/value_event.h"
#include "journal.h"
#include "lane_log.h"
#include "latency_estimate.h"
#include "pilots.h"
#include "replicated_log.h"

namespace depfast {
class QuorumEvent;
}

namespace depfast::copilot {

class Copilot final : public ReplicatedLog, private LaneUser {
 public:
  // Both must outlive the Copilot.
  Copilot(Runtime& runtime, StateMachine& machine, Durability durability);

  // See ReplicatedLog. Both pilots propose.
  void Start() override;
  void Submit(std::string command, const Dependency& client, SubmitDone done) override;
  // A read is an entry's command that changes nothing.
  void ReadIndex(const Dependency& client, ReadDone done) override;
  std::vector<PeerId> proposers() const override;

 private:
  // The answer to a command. The result is empty unless it is committed.
  using Done = std::function<void(SubmitStatus status, const CommandMemory::Result& result)>;

  struct Pending {
    Command command;
    Dependency client;
  };

  // The answers of those who have promised, by replica; none without a majority.
  using Promises = std::vector<std::pair<PeerId, PrepareReply>>;

  // An entry that this replica proposes: two quorums over the same calls.
  struct Round {
    std::shared_ptr<QuorumEvent> fast;     // fast-accepts
    std::shared_ptr<QuorumEvent> ordered;  // dependencies, the proposed one or a later one
    std::shared_ptr<std::vector<EntryIndex>> dependencies;
    std::shared_ptr<bool> witness_accepted;  // it is among the fast-accepts
  };

  // What is decided for an entry, with its commands.
  struct Decided {
    Value value;
    EntryIndex initial = 0;
    View origin = 0;
    Commands commands;
  };

  // The entries of the other lane that a peer has seen, as its latest FastAcceptReply says.
  struct Seen {
    View view = 0;
    EntryIndex up_to = 0;
  };

  // --- start and clients ---
  void Recover();
  void RememberReserved(const Recovered& recovered);
  void RegisterHandlers();
  std::optional<Lane> OwnLane() const;
  std::uint64_t NewName();
  void Enqueue(Pending pending, Done done);
  // To all who wait for the command here.
  void Answer(std::uint64_t name, SubmitStatus status, const CommandMemory::Result& result);

  // --- proposing ---
  void StartProposing(Lane lane, EntryIndex latest);
  void ProposeLoop(Lane lane);
  Duration BatchPatience() const;
  std::vector<Pending> TakeBatch();
  EntryIndex NextIndex(Lane lane) const {
    return std::max(latest_proposed_, Log(lane).latest_known()) + 1;
  }
  void Reserve(Lane lane);
  void Propose(Lane lane, const std::vector<Pending>& batch);
  Round VotesOn(const Broadcast<FastAccept>& calls, const FastAccept& request);
  // Lets a majority accept the value at this ballot. Returns whether it did.
  bool AcceptByMajority(Lane lane, EntryIndex index, Ballot ballot, const Decided& value);
  void DecideFast(Lane lane, EntryIndex index, const Decided& decided, bool witness_accepted);
  void DecideAndTell(Lane lane, EntryIndex index, const Decided& decided);
  void Tell(Lane lane, EntryIndex index, const Decided& decided);
  Duration RoundPatience() const;
  Outcome AwaitMajority(Event& event);
  std::vector<PeerId> PeersInReach() const;
  void ReleaseLater(BroadcastCalls calls);

  // --- every replica's side ---
  // The dependency as recorded; nothing if the proposal is refused.
  std::optional<EntryIndex> RecordProposal(const FastAccept& request);
  void OnFastAccept(const FastAccept& request, const Responder<FastAcceptReply>& responder);
  void OnOtherPilotsTurn(Lane ours, EntryIndex seen);
  bool RecordAccept(const Accept& request);
  void OnAccept(const Accept& request, const Responder<AcceptReply>& responder);
  Ballot PromisedOf(Lane lane, EntryIndex index) const;
  void OnCommit(const Commit& request, const Responder<CommitReply>& responder);
  void LearnCommands(Lane lane, EntryIndex index, View origin, const Commands& commands);
  void Decide(Lane lane, EntryIndex index, const Value& value);
  void ObserveDecision(Lane lane, EntryIndex index);

  // --- execution ---
  void RunLoop();
  std::optional<Value> NextDecision(Lane lane) const;
  void AwaitNext();
  std::optional<std::pair<Lane, EntryIndex>> WaitedFor() const;
  Duration TakeoverPatience() const;
  void Run(Lane lane);
  void RunCommand(const Command& command);
  bool IsNull(Lane lane, EntryIndex up_to);
  void SettleLater(Lane lane, EntryIndex last);
  // The other lane's entries need not wait for the entries up to here.
  EntryIndex RanOrNull(Lane lane) const { return std::max(At(ran_, lane), At(null_, lane)); }
  void NoteSeen(PeerId peer, Lane lane, const FastAcceptReply& reply);

  // --- takeover ---
  void StartTakeover(Lane lane, EntryIndex index);
  // Until the entry is decided, or this replica is no pilot any more.
  void TakeOver(Lane lane, EntryIndex index);
  // False if it must be tried again.
  bool TryTakeover(Lane lane, EntryIndex index);
  Promises AskForPromises(const Prepare& request);
  PrepareReply Promise(const Prepare& request);
  static const PrepareReply& Latest(const Promises& promises);
  void NoteRefusal(Lane lane, EntryIndex index, Ballot promised);
  Ballot NextBallot(Lane lane, EntryIndex index);

  // --- replicas that have fallen behind ---
  // This replica lacks decisions, which `peer` has.
  void Lacks(Lane lane, EntryIndex up_to, PeerId peer);
  void LearnLoop();
  bool LearnSome(PeerId peer, Lane lane);
  LearnReply DecisionsFrom(Lane lane, EntryIndex first);
  bool FetchWholeSnapshot(PeerId peer);
  FetchSnapshotReply PartOfSnapshot(const FetchSnapshot& request);
  StoredSnapshot MakeSnapshot();
  void Restore(const StoredSnapshot& snapshot);
  void CompactIfLarge();
  EntryIndex BeforeRetained(Lane lane);
  void Truncate(const PerLane& up_to);
  PerLane CutBefore(PerLane up_to) const;

  // --- LaneUser ---
  EntryIndex LatestKnown(Lane lane) const override { return Log(lane).latest_known(); }
  PerLane DecidedUpTo() const override;
  PerLane RanUpTo() const override { return ran_; }
  void OnElected(Lane lane, EntryIndex latest) override;
  void OnDeposed(Lane lane) override;
  void OnHeartbeat(PeerId from, const PerLane& decided, const PerLane& ran_everywhere) override;

  LaneLog& Log(Lane lane) { return logs_[static_cast<std::size_t>(lane)]; }
  const LaneLog& Log(Lane lane) const { return logs_[static_cast<std::size_t>(lane)]; }

  Runtime& runtime_;
  StateMachine& machine_;
  const Quorums quorums_;
  Journal journal_;
  Pilots pilots_;
  std::array<LaneLog, 2> logs_;

  // What has run.
  PerLane ran_{};
  PerLane null_{};  // all commands up to here have run, by the other lane
  std::uint64_t commands_run_ = 0;
  CommandMemory memory_;

  // A pilot's.
  std::vector<Pending> pending_;                        // not proposed yet
  std::map<std::uint64_t, std::vector<Done>> waiting_;  // by the command's name
  std::shared_ptr<ValueEvent<bool>> has_pending_;
  std::shared_ptr<ValueEvent<bool>> our_turn_;     // the other pilot has proposed after us
  std::shared_ptr<ValueEvent<bool>> round_ended_;  // not the most rounds are under way
  int rounds_ = 0;
  int turns_missed_ = 0;  // by the other pilot, since its latest proposal
  EntryIndex latest_proposed_ = 0;
  // Indexes that a crash does not let this pilot forget: see journal.h.
  std::shared_ptr<ValueEvent<bool>> may_propose_;
  EntryIndex reserved_ = 0;
  bool reserving_ = false;
  std::uint64_t unnamed_ = 0;   // part of the name of the latest command that came without one
  LatencyEstimate round_time_;  // until a majority has answered a proposal
  Duration backoff_{0};         // the next wait for a majority is at least so long

  // Execution's waits.
  std::shared_ptr<ValueEvent<bool>> news_;  // beside decisions: what peers have seen, a snapshot
  std::vector<Seen> seen_;                  // by replica
  std::pair<Lane, EntryIndex> waits_for_;   // the entry of the other lane, and since when
  Time waits_since_{0};

  // A replica that lacks decisions.
  PeerId learn_from_ = kNobody;
  PerLane learn_up_to_{};
  bool learning_ = false;
  std::size_t compact_above_;  // bytes of commands in memory and on the disk
  // The snapshot that others are fetching.
  SnapshotId served_id_;
  std::string served_;
};

}  // namespace depfast::copilot

// CopilotBase: the given half of a Copilot replica. Not submitted: your Copilot derives from it.
//
// Given are what a client needs, batches in turn (ping-pong batching), the change of pilots, null
// dependency elimination, and what a replica does that has missed much. Yours are the votes of a
// round, the order of execution, and the takeover.
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
#include "copilot_types.h"
#include "depfast/broadcast.h"
#include "depfast/runtime.h"
#include "depfast/value_event.h"
#include "journal.h"
#include "lane_log.h"
#include "latency_estimate.h"
#include "pilots.h"
#include "replicated_log.h"
#include "yielding.h"

namespace depfast::copilot {

// What is decided for an entry, with its commands.
struct Decided {
  Value value;
  EntryIndex initial = 0;  // the dependency with which the entry was proposed; 0 if unknown
  View origin = 0;         // the view in which the commands were proposed
  Commands commands;
};

class CopilotBase : public ReplicatedLog, private LaneUser {
 public:
  // Both must outlive the CopilotBase.
  CopilotBase(Runtime& runtime, StateMachine& machine, Durability durability);

  // See ReplicatedLog. Both pilots propose. A read is an entry's command that changes nothing.
  void Start() final;
  void Submit(std::string command, const Dependency& client, SubmitDone done) final;
  void ReadIndex(const Dependency& client, ReadDone done) final;
  std::vector<PeerId> proposers() const final;

 protected:
  // ---- yours ----

  // This replica proposes `proposal` in a lane that it has. Runs in a coroutine of its own, and may
  // wait. It returns once the entry is decided, or cannot be decided at this ballot: then the entry
  // is taken over.
  virtual void Propose(const FastAccept& proposal) = 0;

  // A proposal has come, or is this replica's own. Records it, in the log and in the journal, and
  // returns the dependency as recorded; nothing if it refuses: a view that is over, an entry that
  // is decided, promised to a taker or accepted. A proposal that comes again gets the same answer.
  // Must not wait. The reply leaves once the record is durable.
  virtual std::optional<EntryIndex> RecordProposal(const FastAccept& request) = 0;

  // The same for a value on the slow path, or of a taker. Returns whether it is accepted: not of a
  // view that is over, for a decided entry, or below a promise.
  virtual bool RecordAccept(const Accept& request) = 0;

  // The same for a promise to a taker: to refuse all lower ballots for the entry, this replica's
  // own proposal included. A refusal names the promise that is as high or higher.
  virtual PrepareReply Promise(const Prepare& request) = 0;

  // Runs the decided entries of both lanes, in their order. Runs in a coroutine of its own; never
  // returns.
  virtual void RunEntries() = 0;

  // Tries to decide an entry that its pilot does not decide. Runs in a coroutine of its own, and
  // may wait. False if it must be tried again: it is, at a higher ballot, after a while.
  virtual bool TryTakeover(Lane lane, EntryIndex index) = 0;

  // ---- given: votes ----

  // The replicas that take our messages. A slow one, with many bytes in our queue, learns later.
  std::vector<PeerId> PeersInReach() const;
  // Waits for `event`, which a majority decides, for as long as a majority usually takes at most.
  // After a timeout the next wait is twice as long, and stays so while majorities need that.
  Outcome AwaitMajority(Event& event);
  // Releases calls that have no answer after a while. Returns at once.
  void ReleaseLater(BroadcastCalls calls);
  // Takes note of a reply to our proposal: call it for every reply. True if it is a vote: the
  // replier has recorded the entry in our view.
  bool NoteReply(PeerId peer, Lane lane, const FastAcceptReply& reply);
  // A replica has refused a ballot because it has promised this one. Takes note of any reply.
  void NoteRefusal(Lane lane, EntryIndex index, Ballot promised);
  // What a ballot must reach, for this replica to accept it for the entry.
  Ballot PromisedOf(Lane lane, EntryIndex index) const;
  // A majority has ordered our proposal so long after it was sent. Timeouts follow this. Call it
  // once for each proposal.
  void NoteRound(Duration took) { round_time_.Add(took); }

  // How long after the broadcast the fast path is given up, if a majority has answered.
  Duration FastPatience() const;
  // The longest wait for an entry of the other lane, before it is taken over.
  Duration TakeoverPatience() const;
  // When this replica first heard of the entry, from its pilot or from a reply to a proposal of its
  // own; now, if it did not. A replica that hears of a later entry hears of this one, too.
  Time HeardAt(Lane lane, EntryIndex index) const {
    return Log(lane).HeardAt(index, runtime_.Now());
  }
  // How long a majority's answer may take.
  Duration RoundPatience() const;

  // ---- given: decisions ----

  // Takes the entry for decided, and tells all. Nothing if it is decided already.
  void DecideAndTell(Lane lane, EntryIndex index, const Decided& decided);
  // The same after a fast path. Without the other pilot's vote (the witness), nobody hears of it
  // before it is on our disk. Requires: the entry is not decided.
  void DecideFast(Lane lane, EntryIndex index, const Decided& decided, bool witness_accepted);
  // The witness has fast-accepted what we have proposed in this view. If that is decided, all may
  // hear of it now: call this for a late vote, too, and our slow disk delays nobody.
  void NoteWitness(Lane lane, View view, EntryIndex index);
  // This replica lacks decisions up to there, which `peer` has. Asks for them, in the background.
  void Lacks(Lane lane, EntryIndex up_to, PeerId peer);

  // ---- given: execution ----

  // The lane that this replica has; nothing if it is no pilot.
  std::optional<Lane> OwnLane() const;
  // What is decided for the lane's next entry that has not run, if this replica knows it and may
  // run it: not before the votes and proposals of the same step have left, nor before it may tell
  // (DecideFast). LaneLog::IsDecided is true before: News is ready later.
  std::optional<Value> NextDecision(Lane lane) const;
  EntryIndex NextToRunIn(Lane lane) const { return At(ran_, lane) + 1; }
  // The other lane's entries need not wait for the entries up to here.
  EntryIndex RanOrNull(Lane lane) const { return std::max(At(ran_, lane), At(null_, lane)); }
  // The lane's next entry runs now. Returns its commands; none of a no-op.
  const Commands& BeginEntry(Lane lane);
  // All its commands have run. May wait: a long backlog runs in parts.
  void EndEntry();
  // Runs a command that has not run, and answers those who wait for it. See CommandMemory.
  void Apply(const Command& command);
  // Answers all who wait here for the command. The result is empty unless it is committed.
  void Answer(std::uint64_t name, SubmitStatus status, const CommandMemory::Result& result);
  bool HasRun(const Command& command) const { return memory_.HasRun(command.name); }
  // Null dependency elimination: whether our entries need not wait for those of `lane` up to
  // `up_to`, because all their commands have run. RanOrNull has grown then.
  bool IsNull(Lane lane, EntryIndex up_to);
  // Ready when something else than a decision may let an entry run. It is the same event each time;
  // this call makes it not ready.
  std::shared_ptr<Event> News();

  // ---- given: takeover ----

  // Takes the entry over, unless it is decided, or a takeover of it is under way. Returns at once.
  // If the entry is far before the latest, the takeover first asks a peer whether it is decided.
  void StartTakeover(Lane lane, EntryIndex index);
  // A ballot that no other replica uses, above all that this one knows of.
  // Requires: index > Log(lane).base().
  Ballot NextBallot(Lane lane, EntryIndex index);
  // The highest ballot that a replica has promised for the entry alone, as far as this one knows.
  // Requires: index > Log(lane).base().
  Ballot HighestPromise(Lane lane, EntryIndex index);

  LaneLog& Log(Lane lane) { return logs_[static_cast<std::size_t>(lane)]; }
  const LaneLog& Log(Lane lane) const { return logs_[static_cast<std::size_t>(lane)]; }
  Runtime& runtime() { return runtime_; }
  const Quorums& quorums() const { return quorums_; }
  Journal& journal() { return journal_; }
  Pilots& pilots() { return pilots_; }
  const Pilots& pilots() const { return pilots_; }

 private:
  using Done = std::function<void(SubmitStatus status, const CommandMemory::Result& result)>;

  struct Pending {
    Command command;
    Dependency client;
    Time since{0};
  };

  // Those who wait for a command.
  struct Waiting {
    Time since{0};
    std::vector<Done> done;
  };

  // What a peer has told of its decisions. One that has thrown them away has a snapshot.
  enum class Learned : std::uint8_t { kNothing, kSome, kAreGone };

  // The entries of the other lane that a peer has seen, as its latest FastAcceptReply says.
  struct Seen {
    View view = 0;
    EntryIndex up_to = 0;
  };

  // --- start and clients ---
  void Recover();
  void RememberReserved(const Recovered& recovered);
  void RegisterHandlers();
  std::uint64_t NewName();
  void Enqueue(Pending pending, Done done);

  // --- batches ---
  void StartProposing(Lane lane, EntryIndex latest);
  void ProposeLoop(Lane lane);
  Duration BatchPatience() const;
  void AwaitTurn();
  bool HoldsBack();
  void DropRun();
  std::vector<Pending> TakeBatch();
  EntryIndex NextIndex(Lane lane) const {
    return std::max(latest_proposed_, Log(lane).latest_known()) + 1;
  }
  void Reserve(Lane lane);
  void StartRound(Lane lane, const std::vector<Pending>& batch);
  void OnOtherPilotsTurn(Lane ours, EntryIndex seen);

  // --- messages and decisions ---
  void OnFastAccept(const FastAccept& request, const Responder<FastAcceptReply>& responder);
  bool IsDecidedAs(const Accept& request);
  void OnAccept(const Accept& request, const Responder<AcceptReply>& responder);
  void OnCommit(const Commit& request, const Responder<CommitReply>& responder);
  void LearnCommands(Lane lane, EntryIndex index, View origin, const Commands& commands);
  void Decide(Lane lane, EntryIndex index, const Value& value);
  void LetRunLater();
  void JudgeOwnEntry();
  void Reveal(Lane lane, EntryIndex index);
  void RevealAndTell(Lane lane, EntryIndex index);
  void Tell(Lane lane, EntryIndex index, const Value& value, View origin);
  void NoteDecision(Lane lane, EntryIndex index);
  bool AreNull(Lane lane, EntryIndex up_to);
  void SettleLater(Lane lane, EntryIndex last);
  void TakeOver(Lane lane, EntryIndex index);
  void LearnIfBehind(Lane lane, EntryIndex index);
  void AskForDecisions(Lane lane);

  // --- replicas that have fallen behind: copilot_base_behind.cc ---
  void LearnLoop();
  Learned LearnSome(PeerId peer, Lane lane);
  LearnReply DecisionsFrom(Lane lane, EntryIndex first);
  bool FetchWholeSnapshot(PeerId peer);
  FetchSnapshotReply PartOfSnapshot(const FetchSnapshot& request);
  StoredSnapshot MakeSnapshot();
  void Restore(const StoredSnapshot& snapshot);
  void CompactIfLarge();
  void DrawCompaction();
  EntryIndex BeforeRetained(Lane lane);
  void Truncate(const PerLane& up_to);
  PerLane CutBefore(PerLane up_to) const;

  // --- LaneUser ---
  EntryIndex LatestKnown(Lane lane) const override { return Log(lane).latest_known(); }
  PerLane DecidedUpTo() const override { return {logs_[0].decided(), logs_[1].decided()}; }
  PerLane RanUpTo() const override { return ran_; }
  void OnElected(Lane lane, EntryIndex latest) override;
  void OnDeposed(Lane lane) override;
  void OnHeartbeat(PeerId from, const PerLane& decided, const PerLane& ran_everywhere) override;

  Runtime& runtime_;
  StateMachine& machine_;
  const Quorums quorums_;
  Journal journal_;
  Pilots pilots_;
  std::array<LaneLog, 2> logs_;

  // What has run.
  PerLane ran_{};
  PerLane null_{};        // all commands up to here have run, by the other lane
  PerLane may_run_{};     // the decisions up to here
  bool letting_ = false;  // LetRunLater is under way
  std::uint64_t commands_run_ = 0;
  int commands_in_step_ = 0;  // since the last pause
  int entries_in_step_ = 0;
  Lane running_ = Lane::kPilot;  // of the present entry
  int run_first_ = 0;            // its commands that had not run
  CommandMemory memory_;
  std::shared_ptr<ValueEvent<bool>> news_;
  std::vector<Seen> seen_;  // by replica

  // A pilot's.
  std::vector<Pending> pending_;              // not proposed yet
  std::map<std::uint64_t, Waiting> waiting_;  // by the command's name
  std::shared_ptr<ValueEvent<bool>> has_pending_;
  std::shared_ptr<ValueEvent<bool>> our_turn_;     // the other pilot has proposed after us
  std::shared_ptr<ValueEvent<bool>> round_ended_;  // not the most rounds are under way
  int rounds_ = 0;
  int turns_missed_ = 0;    // by the other pilot, since its latest proposal
  Time other_proposed_{0};  // the other pilot, the last time
  EntryIndex latest_proposed_ = 0;
  Yielding yielding_;
  // Indexes that a crash does not let this pilot forget: see journal.h.
  std::shared_ptr<ValueEvent<bool>> may_propose_;
  EntryIndex reserved_ = 0;
  bool reserving_ = false;
  std::uint64_t refusals_ = 0;  // of commands, by a replica that is no pilot
  std::uint64_t unnamed_ = 0;   // part of the name of the latest command that came without one
  LatencyEstimate round_time_;  // until a majority has answered a proposal
  LatencyEstimate their_time_;  // until the other pilot has decided what it has proposed
  Duration backoff_{0};         // the next wait for a majority is at least so long

  // A replica that lacks decisions.
  PeerId learn_from_ = kNobody;
  PerLane learn_up_to_{};
  bool learning_ = false;
  // The latest peer that knew of a later entry than this pilot, and the question to it before
  // takeovers. Null: there is none.
  PeerId heard_from_ = kNobody;
  std::shared_ptr<IntEvent> asked_;
  std::size_t compact_above_ = 0;  // bytes of commands in memory and on the disk
  // The snapshot that others are fetching.
  SnapshotId served_id_;
  std::string served_;
};

}  // namespace depfast::copilot

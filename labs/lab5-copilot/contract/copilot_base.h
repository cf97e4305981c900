// CopilotBase: the given half of a Copilot replica. Not submitted: your Copilot derives from it.
//
// Given are the answers to clients, batches in turn (ping-pong batching), the change of pilots, the
// lanes, and the way to catch up. Yours are the votes of a round, the order of execution, and the
// takeover.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "batches.h"
#include "catch_up.h"

namespace depfast::copilot {

// The fast path is given up this time after the broadcast, if a majority has answered (as in the
// original).
inline constexpr Duration kFastPatience = 5ms;
// The limit of a majority's answer: a pilot that is silent for that time is dead.
inline constexpr Duration kRoundPatience = kDeadAfterMin;

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

  // A value has come on the slow path, or of a taker. Records it likewise. Returns whether it is
  // accepted: not of a view that is over, for a decided entry, or below a promise.
  virtual bool RecordAccept(const Accept& request) = 0;

  // A taker wants a promise: to refuse all lower ballots for the entry, this replica's own proposal
  // included. Records it likewise. A refusal names the promise that is as high or higher.
  virtual PrepareReply Promise(const Prepare& request) = 0;

  // Runs the decided entries of both lanes, in their order. Runs in a coroutine of its own; never
  // returns.
  virtual void RunEntries() = 0;

  // Tries to decide an entry that its pilot does not decide. Runs in a coroutine of its own, and
  // may wait. False if it must be tried again: it is, at a higher ballot, after a while.
  virtual bool TryTakeover(Lane lane, EntryIndex index) = 0;

  // ---- given: votes ----

  // The replicas that take our messages. A slow one, with many bytes in our queue, learns later.
  std::vector<PeerId> PeersInReach() { return lanes_.PeersInReach(); }
  // Releases calls that have no answer after a while. Returns at once.
  void ReleaseLater(BroadcastCalls calls) { lanes_.ReleaseLater(std::move(calls)); }
  // Waits for `event`, which a majority decides, for kRoundPatience at most.
  Outcome AwaitMajority(Event& event) { return event.Wait(kRoundPatience); }
  // Takes note of a reply to our proposal: call it for every reply. True if it is a vote: the
  // replier has recorded the entry in our view.
  bool NoteReply(Lane lane, const FastAcceptReply& reply) {
    return pilots_.Know(lane, reply.view) && reply.recorded;
  }
  // A replica has refused a ballot because it has promised this one. Takes note of any reply.
  void NoteRefusal(Lane lane, EntryIndex index, Ballot promised);
  // The ballot that another must reach, for this replica to accept it for the entry.
  Ballot PromisedOf(Lane lane, EntryIndex index) const;
  // A majority has ordered our proposal within this time. TakeoverPatience follows it. Call it once
  // for each proposal.
  void NoteRound(Duration took);
  // The longest wait for an entry of the other lane, before it is taken over. It adapts: a fixed
  // one is too long for a near cluster, where each command then waits for it, and too short for a
  // distant one.
  Duration TakeoverPatience() const override;

  // ---- given: decisions ----

  // Takes the entry for decided, and tells all. Nothing if it is decided already.
  void DecideAndTell(Lane lane, EntryIndex index, const Decided& decided) {
    lanes_.DecideAndTell(lane, index, decided);
  }
  // Decides an entry on the fast path. Without the other pilot's vote (the witness), it first waits
  // until our disk has the value as accepted. Nothing if the entry is no longer ours to decide
  // then. Requires: the entry is not decided.
  void DecideFast(Lane lane, EntryIndex index, const Decided& decided, bool witness_accepted);
  // This replica lacks decisions up to there, which `peer` has. Asks for them, in the background.
  void Lacks(Lane lane, EntryIndex up_to, PeerId peer) { catch_up_.Lacks(lane, up_to, peer); }

  // ---- given: execution ----

  // The lane that this replica has; nothing if it is no pilot.
  std::optional<Lane> OwnLane() const;
  // The decided value of the lane's next entry that has not run, if this replica knows it and may
  // run it: not before the votes and proposals of the same step have left. LaneLog::IsDecided is
  // true before: News is ready later.
  std::optional<Value> NextDecision(Lane lane) const { return lanes_.NextDecision(lane); }
  EntryIndex RanUpTo(Lane lane) const { return At(lanes_.progress().entries, lane); }
  EntryIndex NextToRunIn(Lane lane) const { return RanUpTo(lane) + 1; }
  // The lane's next entry runs now. Returns its commands; none of a no-op.
  const Commands& BeginEntry(Lane lane);
  // All its commands have run. May wait: a long backlog runs in parts.
  void EndEntry();
  // Runs a command that has not run, and answers those who wait for it. See CommandMemory.
  void Apply(const Command& command);
  // Answers all who wait here for the command. The result is empty unless it is committed.
  void Answer(std::uint64_t name, SubmitStatus status, const CommandMemory::Result& result) {
    batches_.Answer(name, status, result);
  }
  bool HasRun(const Command& command) const {
    return lanes_.progress().memory.HasRun(command.name);
  }
  // Ready when something else than a decision may let an entry run. It is the same event each time;
  // this call makes it not ready.
  std::shared_ptr<Event> News() { return lanes_.News(); }

  // ---- given: takeover ----

  // Takes the entry over, unless it is decided, or a takeover of it is under way. Returns at once.
  void StartTakeover(Lane lane, EntryIndex index);
  // A ballot that no other replica uses, above all that this one knows of.
  // Requires: index > Log(lane).base().
  Ballot NextBallot(Lane lane, EntryIndex index);

  LaneLog& Log(Lane lane) { return lanes_.log(lane); }
  const LaneLog& Log(Lane lane) const { return lanes_.log(lane); }
  Runtime& runtime() { return runtime_; }
  const Quorums& quorums() const { return quorums_; }
  Journal& journal() { return lanes_.journal(); }
  Pilots& pilots() { return pilots_; }
  const Pilots& pilots() const { return pilots_; }

 private:
  void RememberReserved(const Recovered& recovered);
  void RegisterHandlers();
  std::uint64_t NewName();
  void Enqueue(Command command, const Dependency& client, Batches::Done done);

  bool IsDecidedAs(const Accept& request);
  void TakeOver(Lane lane, EntryIndex index);

  // --- LaneUser ---
  void OnNoOp(Lane lane, const Commands& commands) override;
  void OnElected(Lane lane, EntryIndex latest) override;
  void OnDeposed() override { batches_.Stop(); }
  void OnHeartbeat(PeerId from, const PerLane& decided, const PerLane& ran_everywhere) override;
  void Order(const FastAccept& proposal) override;

  Runtime& runtime_;
  StateMachine& machine_;
  const Quorums quorums_;
  Lanes lanes_;
  Pilots pilots_;
  Batches batches_;
  CatchUp catch_up_;
  // The usual time until a majority has answered a proposal, and its error. Rounds correct it soon.
  Duration round_time_ = 2ms;
  Duration deviation_ = 1ms;
  int commands_in_step_ = 0;    // that have run since the last pause
  std::uint64_t refusals_ = 0;  // of commands, by a replica that is no pilot
  std::uint64_t unnamed_ = 0;   // part of the name of the latest command that came without one
};

}  // namespace depfast::copilot

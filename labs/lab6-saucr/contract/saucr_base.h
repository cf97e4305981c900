// SaucrBase: the given half of a SAUCR replica (document 003). Not submitted: your Saucr derives
// from it.
//
// Given are elections, beats, rounds, catch-up, snapshots, clients and the journal. Yours is what
// an acknowledgement means, and what a replica knows after a crash. The rules R1 to R33 are those
// of the handout.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "depfast/broadcast.h"
#include "depfast/runtime.h"
#include "depfast/value_event.h"
#include "followers.h"
#include "journal.h"
#include "replicated_log.h"
#include "saucr_messages.h"
#include "saucr_observations.h"
#include "saucr_types.h"
#include "state_machine.h"

namespace depfast::saucr {

struct SaucrOptions {
  Duration beat = kBeat;  // silence and elections scale with it
};

// A round without a quorum makes room for the next after this time.
inline constexpr Duration kRoundPatience = 100ms;

// New entries that a leader sends at once: [first, end). They are in its log, and in no journal.
struct Round {
  EntryIndex first = 0;
  EntryIndex end = 0;
  std::vector<PeerId> named;  // the followers in rounds: the round goes to these
  // Ready once the last entry is committed, by whichever messages, or this leads no longer.
  std::shared_ptr<Event> is_over;

  EntryIndex last() const { return end - 1; }
};

class SaucrBase : public ReplicatedLog {
 public:
  // Both must outlive the SaucrBase. Throws std::invalid_argument, in one line, for a number of
  // replicas that Quorums refuses.
  SaucrBase(Runtime& runtime, StateMachine& machine, SaucrOptions options = {});

  // See ReplicatedLog. The leader proposes; no other replica does.
  void Start() final;
  void Submit(std::string command, const Dependency& client, SubmitDone done) final;
  void ReadIndex(const Dependency& client, ReadDone done) final;
  std::vector<PeerId> proposers() const final;
  // Flushes (R33).
  void Stop() final;

 protected:
  // ---- yours: 6A ----

  // This leader replicates a round: it writes the entries to the journal, sends them, and waits for
  // what commits them (R1 to R3), at most for kRoundPatience. Runs in a coroutine of its own, and
  // may wait. At most two rounds are under way.
  virtual void Replicate(const Round& round) = 0;

  // A message of the leader of our term. Its `prev` is in our log, unless it is a beat. Takes its
  // entries, and returns the answer, which leaves then (R1, R2). May wait; for a beat it must not.
  virtual AppendEntriesReply TakeEntries(const AppendEntries& request) = 0;

  // The next beat is due. `functional`: the number of functional replicas, this leader included
  // (R6, R7). Must not wait.
  virtual void OnBeat(int functional) = 0;

  // No leader's message has come for two beats: called once for each silence (R9). Also at an
  // orderly stop (R33). Must not wait.
  virtual void OnSilence() = 0;

  // ---- yours: 6B ----

  // Called every kBackgroundFlush while entries are unsynced (R10). Must not wait.
  virtual void FlushInBackground() = 0;

  // ---- yours: 6C ----

  // The markers say that entries are lost. Runs before all else, and returns once SetRecovered was
  // called (R17, R21, R22). May wait.
  virtual void RecoverLle() = 0;

  // A recovering replica asks (R17, R20, R22). May wait.
  virtual LleReply OnLleQuery(const LleQuery& query) = 0;

  // This replica is the leader of a new term. `maps`: those of its voters (R19). Must not wait.
  virtual void OnElected(const std::vector<LleMap>& maps) = 0;

  // This new leader is not whole (R29, R30). Returns true once it is whole; false if it gives up,
  // or leads no longer. May wait.
  virtual bool RecoverData() = 0;

  // ---- given: what this replica has ----

  Runtime& runtime() { return runtime_; }
  const Quorums& quorums() const { return quorums_; }
  const RaftLog& log() const { return log_; }
  // The last entry of the log.
  EntryId last() const { return {log_.last_term(), log_.last_index()}; }
  Journal& journal() { return journal_; }
  LleMap& map() { return map_; }
  // Of all replicas, as far as this one knows, and its own.
  const Lives& lives() const { return lives_; }
  Life life() const { return lives_[static_cast<std::size_t>(runtime_.self())]; }
  // Takes the larger value of each replica. It does not write them.
  void MergeLives(const Lives& told);

  bool is_recovering() const { return is_recovering_; }
  // The recovered LLE while the log has not reached it; else {}.
  EntryId recovered() const { return recovered_; }
  bool is_whole() const { return last() >= recovered_; }
  // By which this replica votes and is voted for.
  EntryId lle() const { return std::max(last(), recovered_); }
  // This replica is recovering no longer. {}: there is no LLE but the log's, which makes it whole.
  void SetRecovered(EntryId lle);

  // ---- given: acknowledgements ----

  // Takes the entries of a message, as far as they are new, and writes them to the journal, without
  // a sync. Returns the ids of the new ones.
  std::vector<EntryId> AppendNew(const AppendEntries& request);
  // The answer that acknowledges the entries up to `match`, with what is durable of them now.
  AppendEntriesReply Answer(EntryIndex match) const;

  // ---- given: a leader's rounds ----

  bool Leads(std::uint64_t term) const { return role_ == Role::kLeader && term_ == term; }
  std::uint64_t term() const { return term_; }
  Duration election_timeout() const { return election_timeout_max_; }
  const ModeState& mode() const { return mode_; }
  void SetMode(const ModeState& mode);
  // The message of a round, with the map and the mode as they are now.
  AppendEntries MakeRound(const Round& round) const { return MakeAppend(round.first, round.end); }
  // The special request (R6): all in rounds flush, and answer once that is done. Their answers
  // commit what they make durable. Returns at once. Begin our own flush before it.
  void AskAllToFlush();
  // Takes note of an answer to our messages, or of our own part: call it for each. True if it
  // acknowledges something in our term.
  bool NoteReply(PeerId peer, const AppendEntriesReply& reply);
  const std::vector<Acks>& acks() const { return followers_.acks(); }
  // The first entry of our term.
  EntryIndex term_began_at() const { return term_began_at_; }
  // Takes the entries up to there for committed. Nothing if they are already, or this leads no
  // longer.
  void AdvanceCommit(EntryIndex index);
  // Notes the answers that come later, and gives the others up after a while: those followers fall
  // behind. Returns at once.
  void ReleaseLater(const Broadcast<AppendEntries>& calls);

  // ---- given: a leader's data ----

  // Asks all others for the ends of their logs. A higher term in an answer ends our leadership.
  Broadcast<FetchLog> AskForLogs();
  // Copies the log of a replica, or its snapshot and the rest. Waits. False if that fails.
  bool AdoptLog(PeerId from);

 private:
  struct Pending {
    std::string command;
    Dependency client;
    SubmitDone done;  // none for a no-op
  };
  struct PendingRead {
    Dependency client;
    ReadDone done;
  };
  struct Vote {
    PeerId voter;
    LleMap map;
  };

  // --- start ---
  void RegisterHandlers();
  // Serves a method of leaders in a coroutine. A recovering replica does not answer (R20).
  template <typename Request>
  void ServeUnlessRecovering(typename Request::Reply (SaucrBase::*handler)(const Request&));
  void Recover();
  void RecoverLog(Journal::Recovered recovered);
  // This replica takes part from now on.
  void BeginToListen();
  // Waits until our term, and our vote in it, are durable.
  void AwaitTerm();
  void WriteHardState();

  // --- elections (lab 2) ---
  void ElectionLoop();
  void Campaign();
  // The votes of a majority, without our own; nothing if there is none after `patience`.
  std::optional<std::vector<Vote>> AskForVotes(std::uint64_t term, bool pre_vote,
                                               Duration patience);
  RequestVoteReply OnRequestVote(const RequestVote& request);
  RequestVoteReply OnPreVote(const RequestVote& request);
  void BecomeFollower(std::uint64_t term);
  void BecomeLeader(const std::vector<Vote>& votes);
  void OpenTerm(const std::vector<PeerId>& voters);
  // A message of the leader of `term` has come. Requires: term >= term_.
  void HearLeader(std::uint64_t term, PeerId leader);

  // --- beats, silence, flushes ---
  void BeatLoop(std::uint64_t term);
  void EndBeat();
  AppendEntries MakeBeat() const;
  void SilenceLoop();
  void BeginSilence();
  void FlushLoop();
  void OnLost(PeerId peer);

  // --- clients ---
  void ConfirmReads();
  void FailWaiting(SubmitStatus status);

  // --- rounds ---
  void StartRound();
  void NextRound();
  void AppendPending();
  Round NameRound(EntryIndex first);
  // The entries [first, end), as a message. Requires: log_.Knows(first - 1).
  AppendEntries MakeAppend(EntryIndex first, EntryIndex end) const;
  // Notes each answer that comes within `patience`, commits by it, and releases the other calls.
  // `fall_behind`: the followers that do not answer do.
  void NoteAnswers(const Broadcast<AppendEntries>& calls, Duration patience, bool fall_behind);
  void Commit();
  void CommitUpTo(EntryIndex index);

  // --- the follower's side ---
  AppendEntriesReply OnAppendEntries(const AppendEntries& request);
  AppendEntriesReply Refuse(EntryIndex conflict) const;
  // The first index at which our log may differ from one that has this entry; 0 if ours has it.
  EntryIndex ConflictWith(EntryId prev) const;
  std::vector<EntryId> AppendFrom(EntryIndex first, const std::vector<LogEntry>& entries);

  // --- followers that are behind (saucr_base_behind.cc) ---
  // Entries from `from` on may not have reached the follower: catch-up begins, or goes back.
  void FallBehind(PeerId peer, EntryIndex from);
  // Begins catch-up, unless it is under way or the follower is in rounds. It ends when the follower
  // is in rounds, or silent: then the next answer begins it again.
  void ServeIfBehind(PeerId peer);
  void CatchUp(PeerId peer);
  // One catch-up request, or one snapshot. False if the next one must wait: no answer was of use.
  bool SendEntries(PeerId peer);
  bool SendSnapshot(PeerId peer);

  // --- snapshots ---
  InstallSnapshotReply OnInstallSnapshot(const InstallSnapshot& request);
  // Takes a part of a snapshot, and restores it once it is complete. Returns the bytes that this
  // replica has of it.
  std::uint64_t TakePart(EntryId last, std::uint64_t total_bytes, std::uint64_t offset,
                         const std::string& data);
  void InstallIncoming();
  void RestoreSnapshot();
  void CompactIfLarge();
  void ChooseWhenToCompact();

  // --- a leader's data ---
  FetchLogReply OnFetchLog(const FetchLog& request);
  void AddData(const FetchLog& request, FetchLogReply& reply) const;
  // Takes the data of a reply. Returns what to ask for next; nothing if it is of no use.
  std::optional<FetchLog> TakeData(const FetchLog& request, const FetchLogReply& reply);

  EntryIndex last_index() const { return log_.last_index(); }
  EntryId IdAt(EntryIndex index) const { return {log_.TermAt(index), index}; }

  Runtime& runtime_;
  StateMachine& machine_;  // its state is that after entry commit_index_
  const Quorums quorums_;
  const Duration beat_;
  const Duration election_timeout_min_;
  const Duration election_timeout_max_;
  Journal journal_;
  // Ready once the state below is that of the disk.
  std::shared_ptr<IntEvent> started_ = std::make_shared<IntEvent>("start", 1);

  // On disk, too; of the log all but its end.
  std::uint64_t term_ = 0;
  PeerId voted_for_ = kNobody;  // in term_
  RaftLog log_;
  Snapshot snapshot_;  // log_.base_index() <= snapshot_.last_index <= commit_index_
  LleMap map_;
  Lives lives_;
  std::shared_ptr<Event> term_sync_;  // of term_ and voted_for_

  bool is_recovering_ = false;
  // The latest message of a leader that was not answered. It is a sign of life.
  struct {
    std::uint64_t term = 0;
    PeerId leader = kNobody;
    Time at{0};
  } unanswered_;
  EntryId recovered_;  // {} once the log has reached it

  Role role_ = Role::kFollower;
  PeerId leader_ = kNobody;  // of term_, if known
  // The election timeout began: at the latest message of a leader, granted vote or own campaign, or
  // the end of our leadership.
  Time last_heard_{0};
  Time leader_heard_{0};           // the latest message of a leader, or the end of our leadership
  bool silence_was_told_ = false;  // since leader_heard_
  // When we granted the latest pre-vote to a lower number. Our campaigns that began before do not
  // go on: replicas would split their votes again and again.
  Time yielded_{0};
  EntryIndex commit_index_ = 0;
  EntryIndex agreed_ = 0;          // our log is that of term_'s leader up to here, by its messages
  std::size_t compact_above_ = 0;  // bytes of log_
  // The part of another replica's snapshot that has arrived.
  Snapshot incoming_;

  // Valid while this replica leads.
  Followers followers_;
  ModeState mode_;
  EntryIndex term_began_at_ = 0;  // no entry has so large an index before the term is open
  bool is_open_ = false;          // it has its data, and proposes
  std::vector<Pending> pending_;  // accepted, not in the log yet
  std::map<EntryIndex, SubmitDone> waiting_;  // in the log, not committed
  std::vector<PendingRead> reads_;            // that wait for the next confirmation
  std::map<EntryIndex, std::shared_ptr<IntEvent>>
      rounds_;                   // under way, by last entry: Round::is_over
  bool round_starting_ = false;  // the coroutine of the next round has not run yet
};

}  // namespace depfast::saucr

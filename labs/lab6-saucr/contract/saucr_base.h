// SaucrBase: the given half of a SAUCR replica (document 003), which your Saucr derives from. It
// has elections, beats, rounds, catch-up, snapshots, clients and the journal, and comes as a
// library. Yours is what an acknowledgement means, and what a replica knows after a crash. The
// rules R1 to R33 are those of the handout.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "depfast/broadcast.h"
#include "depfast/runtime.h"
#include "depfast/value_event.h"
#include "replicated_log.h"
#include "saucr_given_messages.h"
#include "saucr_journal.h"
#include "saucr_types.h"
#include "state_machine.h"

namespace depfast::saucr {

struct Replica;

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

class SaucrHooks {
 public:
  virtual ~SaucrHooks() = default;

  // ---- 6A ----

  // This leader replicates a round: it writes the entries to the journal, sends them, and waits for
  // what commits them (R1 to R3), at most for kRoundPatience. Runs in a coroutine of its own, and
  // may wait. It is called in the step that has appended the round: until it waits, last() is the
  // round's last entry. A next round may append more then. At most two rounds are under way.
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

  // 6B: called every kBackgroundFlush while entries are unsynced (R10). Must not wait.
  virtual void FlushInBackground() = 0;

  // ---- 6C ----

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
};

class SaucrBase : public ReplicatedLog, private SaucrHooks {
 public:
  // Both must outlive the SaucrBase. Throws std::invalid_argument, in one line, for a number of
  // replicas that Quorums refuses.
  SaucrBase(Runtime& runtime, StateMachine& machine, SaucrOptions options = {});
  ~SaucrBase() override;

  // See ReplicatedLog. The leader proposes; no other replica does.
  void Start() final;
  void Submit(std::string command, const Dependency& client, SubmitDone done) final;
  void ReadIndex(const Dependency& client, ReadDone done) final;
  std::vector<PeerId> proposers() const final;
  void Stop() final;  // flushes (R33)

 protected:
  Runtime& runtime();
  const Quorums& quorums() const;
  const RaftLog& log() const;
  EntryId last() const;  // of the log
  Journal& journal();
  LleMap& map();
  const Lives& lives() const;          // of all replicas, as far as this one knows
  Life life() const;                   // its own
  void MergeLives(const Lives& told);  // takes the larger value of each; does not write them

  bool is_recovering() const;
  // The recovered LLE while the log has not reached it; else {}.
  EntryId recovered() const;
  bool is_whole() const;
  // This replica is recovering no longer. {}: there is no LLE but the log's, which makes it whole.
  void SetRecovered(EntryId lle);

  // Takes the entries of a message, as far as they are new, and writes them to the journal, without
  // a sync. Returns the ids of the new ones.
  std::vector<EntryId> AppendNew(const AppendEntries& request);
  // The answer that acknowledges the entries up to `match`, with what is durable of them now.
  AppendEntriesReply Answer(EntryIndex match) const;

  // ---- a leader's rounds ----

  bool Leads(std::uint64_t term) const;
  std::uint64_t term() const;
  Duration election_timeout() const;
  const ModeState& mode() const;
  void SetMode(const ModeState& mode);
  // The message of a round, with the map and the mode as they are now.
  AppendEntries MakeRound(const Round& round) const;
  // The special request (R6): all in rounds flush, and answer once that is done. Returns at once.
  // The base takes note of their answers, and of our own disk at the end of the journal's latest
  // sync. After each it commits by CommittedUpTo: you call neither NoteReply nor AdvanceCommit.
  // Begin our own flush before it, since a later one is not waited for.
  void AskAllToFlush();
  // Takes note of an answer to our messages, or of our own part: call it for each. True if it
  // acknowledges something in our term.
  bool NoteReply(PeerId peer, const AppendEntriesReply& reply);
  // By replica. A round counts as named before its Replicate is called: for each follower of
  // `round.named`, and for this leader. `buffered` is never above the last entry of the latest
  // round that named the replica, whatever catch-up has brought it.
  const std::vector<Acks>& acks() const;
  EntryIndex term_began_at() const;  // the first entry of our term
  // Takes the entries up to there for committed, while this leads.
  void AdvanceCommit(EntryIndex index);
  // Notes the answers that come later, and commits by them, as after a special request. Gives the
  // others up after a while: those followers fall behind. Returns at once.
  void ReleaseLater(const Broadcast<AppendEntries>& calls);

  // Asks all others for the ends of their logs. An answer of our `term` has the `last` and the
  // `is_whole` of a LogAnswer; one of a higher term ends our leadership.
  Broadcast<FetchLog> AskForLogs();
  // Copies the log of a replica, or its snapshot and the rest. Waits. False if that fails.
  bool AdoptLog(PeerId from);

 private:
  const std::unique_ptr<Replica> replica_;  // the given half
};

}  // namespace depfast::saucr

// SaucrChecker: the invariants of SAUCR (saucr_invariants.h), checked after every step.
//
// The checker compares three sources: the frames that replicas send, the durable bytes of their
// disks, and their claims (saucr_observations.h). Frames and disks are facts, which must support
// the claims. No fact tells of a replica's memory. An acknowledgement, which is a frame, says that
// it has an entry, and the markers on its disk say whether a crash may lose the entry.
//
// An entry is committed when the leader of its term says so, and the answers that this leader has
// received support it. Other replicas may take no more for committed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "election_checker.h"
#include "held_log.h"
#include "leader_log_checker.h"
#include "log_names.h"
#include "saucr_disk.h"
#include "saucr_given_messages.h"
#include "saucr_invariants.h"
#include "saucr_messages.h"
#include "saucr_observations.h"
#include "sim/group_view.h"
#include "testkit/history.h"
#include "testkit/recorder.h"
#include "violations.h"

namespace depfast::saucr {

inline std::string At(EntryId id) { return depfast::At(id.index, id.term); }

class SaucrChecker final : public sim::Observer,
                           public LeaderLogChecker,
                           public Violations<Invariant> {
 public:
  // The parts of the lab that the replicas have. With 6A alone they write no markers and no maps,
  // and no test starts one again.
  enum class Parts { kAll, k6A };

  // Watches `group` from now on, and writes roles, modes and violations into `history` unless that
  // is null. Requires: called before Simulator::Start; both outlive the checker.
  explicit SaucrChecker(const sim::GroupView& group, testkit::History* history = nullptr,
                        Machine machine = Machine::kTally, Parts parts = Parts::kAll);

  // Marks the lanes of a recorded run: changes of mode, flushes, markers, and recoveries. Requires:
  // called before Simulator::Start; `recorder` is null, or outlives the checker.
  void MarkIn(testkit::Recorder* recorder) { recorder_ = recorder; }

  // The latest claims of one replica. Those of its mode and of its recovery need a fact.
  struct Claims {
    std::uint64_t term = 0;
    Role role = Role::kFollower;
    Mode mode = Mode::kSlow;  // of its latest message as the leader of `term`
    // A replica whose disk says that all is there has lost nothing, whatever it claims.
    Recovery recovery = Recovery::kOnDisk;
    EntryId lle;  // with `recovery`
    std::uint64_t commit_index = 0;
    EntryId applied;
    std::uint64_t restored = 0;  // snapshots restored since the last start
  };
  const Claims& claims(PeerId replica) const { return Of(replica).claims; }
  const SaucrDisk& disk(PeerId replica) const { return Of(replica).disk; }
  // Whether SAUCR promises that commands are committed, once the network works: a majority is up,
  // and a minority of replicas that are up has all that they have ever acknowledged.
  bool MayServe() const;
  // The replicas that the round of the latest committed entry has named, one bit each.
  std::uint64_t NamedLast() const;

  // The situations that a run has had.
  struct Coverage {
    std::uint64_t fast = 0;  // entries that a leader in this mode has committed, no-ops included
    std::uint64_t slow = 0;
    std::uint64_t switches = 0;    // of a leader to fast mode
    std::uint64_t silences = 0;    // in which a follower, or one without a leader, flushes
    std::uint64_t recoveries = 0;  // of replicas that had lost entries
    std::uint64_t restored = 0;
  };
  const Coverage& coverage() const { return coverage_; }

  // See LogChecker. An entry is stored where it is in a memory: StoredUpTo is AppliedUpTo.
  // It has committed an entry of its term.
  bool Serves(PeerId leader) const override {
    return claims(leader).applied.term == claims(leader).term;
  }
  std::uint64_t AppliedUpTo(PeerId replica) const override { return claims(replica).applied.index; }
  std::uint64_t CommittedUpTo() const override { return committed().size() - 1; }
  std::string WhyNotCommitted(PeerId replica, std::uint64_t index,
                              const CommandDigest& command) const override;
  bool IsFast() const override {
    return Leader() != kNobody && claims(Leader()).mode == Mode::kFast;
  }
  // A leader serves, in this mode.
  bool ServesIn(Mode mode) const {
    return Leader() != kNobody && Serves(Leader()) && claims(Leader()).mode == mode;
  }
  std::uint64_t CommittedSlowly() const override { return coverage_.slow; }
  std::uint64_t Restored(PeerId replica) const override { return claims(replica).restored; }
  std::optional<StoredSnapshot> SnapshotOf(PeerId replica) const override;
  std::string FirstViolation() const override { return First(/*of_safety=*/false); }
  std::string FirstSafetyViolation() const override { return First(/*of_safety=*/true); }

 private:
  // An entry as the first frame showed it. An id names one entry for ever.
  struct Entry {
    CommandDigest command;
    std::uint64_t prev_term = 0;
    std::optional<std::uint64_t> named;  // the replicas that its round names, one bit each
  };
  // A request that a replica has received and not answered.
  struct Asked {
    std::uint64_t term = 0;
    EntryId last = {};  // the last entry that it shows; of a snapshot, its last
    Mode mode = Mode::kSlow;
    bool beat = false;
    LleMap map = {};
    EntryId on_disk = {};              // latest-on-disk as it came: the maps of these are written
    std::uint64_t snapshot_bytes = 0;  // 0 if it needs no snapshot
    Life life = 0;                     // of a replica that asks for its LLE
    RequestVote vote_request = {};
    ElectionChecker::Asked vote = {};
    EntryId voters_floor = {};  // see FloorOf
  };
  // A leader's knowledge of one replica, from the answers in its term.
  struct Ack {
    EntryIndex buffered = 0;  // in `life`
    EntryIndex durable = 0;
    Life life = 0;
    Lives lives;  // the largest that the replica has named
  };
  // The latest beat of a leader, and the mode that its beats allow (R6, R7).
  struct Beat {
    std::set<std::pair<PeerId, CallId>> calls;
    std::uint64_t answered = 0;
    int prompt = 0;  // beats in a row
    bool may_be_fast = false;
  };
  struct Leading {
    std::uint64_t term = 0;
    std::vector<Ack> acks;  // by replica
    Beat beat;
    std::set<PeerId> whole;  // have answered a FetchLog of this term, and are whole
  };
  struct Replica {
    Claims claims;
    SaucrDisk disk;
    std::map<std::pair<PeerId, CallId>, Asked> asked;
    Leading leading;
    // Facts of its present run.
    bool lost_entries = false;  // by the markers that it has found
    Lives lives_found;          // on its disk
    std::map<PeerId, LleReply> lle_answers;
    EntryId acked;  // the last entry that it has on its word, of the term of its leader
    bool has_reached_lle = false;  // its log has reached what it had learned
    LleMap told;                   // the largest values in maps that it has sent, or acknowledged
    HeldLog held;
    std::map<std::pair<PeerId, CallId>, std::uint64_t> fetches;  // by call, the snapshot's offset
  };
  static std::uint64_t Bit(PeerId replica) { return std::uint64_t{1} << replica; }
  // The value of a replica; the least one if the list is too short.
  template <typename Value>
  static Value In(const std::vector<Value>& values, PeerId of) {
    return std::cmp_less(of, values.size()) ? values[static_cast<std::size_t>(of)] : Value();
  }
  Replica& Of(PeerId replica) { return replicas_[static_cast<std::size_t>(replica)]; }
  const Replica& Of(PeerId replica) const { return replicas_[static_cast<std::size_t>(replica)]; }

  void OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput& output) override;
  void OnOutputsLeave(PeerId replica, Time now, const std::vector<sim::Output>& outputs) override;
  void OnDisk(PeerId replica, Time now, const sim::SimDisk& disk) override;
  void OnRewrite(PeerId replica, Time now, const sim::SimDisk& disk) override;
  void OnRestart(PeerId replica, Time now) override;

  std::optional<std::uint64_t> LeadsTerm(PeerId replica) const override;
  // Not those of markers and maps with part 6A alone.
  void Violate(Invariant invariant, const std::string& what,
               std::vector<testkit::EarlierStep> earlier = {});
  // Violates unless `holds`. `what`: after the replica's name.
  void Require(bool holds, Invariant invariant, PeerId replica, const std::string& what);

  // --- claims ---
  void OnObservation(PeerId replica, const Observation& seen);
  void OnRole(PeerId replica, std::uint64_t term, Role role);
  void OnCommit(PeerId replica, EntryIndex index);
  void OnApply(PeerId replica, EntryId id, std::uint64_t hash);
  void OnRestore(PeerId replica, EntryId last);
  void Hold(PeerId replica, EntryId prev, const std::vector<LogEntry>& entries);
  void HoldFetched(PeerId replica, PeerId from, CallId call, const FetchLogReply& reply);
  void OnMode(PeerId replica, Mode mode);
  void OnShownMode(PeerId replica, Mode mode);
  void OnFlush(PeerId replica, FlushReason reason);
  void OnRecovery(PeerId replica, Recovery recovery, EntryId lle);
  // `vote`: the shape, yes or no, if there is one.
  void Mark(PeerId replica, const std::string& text, const std::string& vote = "");
  void RecordLeader(PeerId replica, std::uint64_t term);

  // --- commitment ---
  // R3: why this leader may not take its entry for committed; empty if it may.
  std::string WhyNoQuorum(PeerId leader, EntryId id) const;
  // Whether an acknowledgement by `replica` is of its latest life that a voter knows (R17).
  bool IsOfItsLatestLife(const Leading& leading, PeerId replica) const;
  // Takes the leader's entries up to `id` for committed.
  void TakeCommitted(PeerId leader, EntryId id);
  const Entry* FindEntry(EntryId id);
  bool IsCommitted(EntryId id) const {
    return id.index < committed().size() && committed()[id.index].term == id.term;
  }

  // --- disks, and what a replica must still have ---
  void ReadDisk(PeerId replica, const sim::SimDisk& disk);
  bool IsRecovering(const Replica& replica) const;
  // The least that a recovered replica has learned of a replica's value or life, whichever minority
  // of its answers it has used.
  template <typename Value>
  Value Learned(const Replica& replica, std::vector<Value> LleReply::* told, PeerId of) const;
  EntryId LearnedOf(const Replica& replica, PeerId of) const;
  // The replica's log has had this end. Once the log has reached the learned LLE, that says no
  // more.
  void NoteLogEnd(Replica& replica, PeerId id, EntryId last);
  // An LLE of this replica that is behind this entry forgets an acknowledgement.
  EntryId FloorOf(PeerId replica) const;

  // --- frames (saucr_checker_frames.cc) ---
  void OnReceived(PeerId replica, const sim::FrameArrival& arrival);
  void OnRequest(PeerId replica, PeerId from, const DecodedFrame& frame);
  void OnAnswered(PeerId replica, PeerId from, const DecodedFrame& frame);
  void OnAck(PeerId leader, PeerId from, CallId call, const AppendEntriesReply& reply);
  // A message of a leader has come. Another leader may replace what no leader has committed, unless
  // its message brings nothing.
  void HearLeader(PeerId replica, std::uint64_t term, bool brings_nothing);

  void OnSent(PeerId replica, const sim::SendFrame& sent);
  void OnSentRequest(PeerId replica, PeerId to, const DecodedFrame& frame);
  void OnSentVoteRequest(PeerId replica, PeerId to, CallId call, const RequestVote& request);
  void OnSentAppend(PeerId replica, PeerId to, CallId call, const AppendEntries& request);
  void OnSentReply(PeerId replica, PeerId to, const Asked& asked, const DecodedFrame& frame);
  void OnVoteReply(PeerId replica, const Asked& asked, const RequestVoteReply& reply);
  void OnAppendReply(PeerId replica, const Asked& asked, const AppendEntriesReply& reply);
  void CheckDurable(PeerId replica, const Asked& asked, const AppendEntriesReply& reply);
  void OnLleReply(PeerId replica, PeerId to, const Asked& asked, const LleReply& reply);
  void OnInstallReply(PeerId replica, const Asked& asked, const InstallSnapshotReply& reply);

  // A message of the leader of its term.
  void OnLeads(PeerId replica, std::uint64_t term, const char* message);
  void OnFrameTerm(PeerId replica, std::uint64_t term, const char* message, bool campaigns = false);
  void OnBeat(Beat& beat, PeerId to, CallId call);
  void RecordEntries(PeerId shown_by, const AppendEntries& request);
  void RecordEntry(PeerId shown_by, EntryId id, const LogEntry& entry, std::uint64_t prev_term);
  void RecordLeaderEntry(PeerId leader, std::uint64_t term, EntryId id);
  void CheckNaming(PeerId leader, EntryId last, std::uint64_t recipients);
  void RequireNotRecovering(PeerId replica, const std::string& what);
  void CheckMap(PeerId replica, const LleMap& map, const char* message);
  void CheckLives(PeerId replica, const Lives& lives, const char* message);

  const Parts parts_;
  const Quorums quorums_;
  std::vector<Replica> replicas_;
  ElectionChecker elections_;
  std::map<EntryId, Entry> entries_;
  std::map<std::uint64_t, std::map<EntryIndex, std::uint64_t>> leader_logs_;  // terms, by term
  // The rounds that leave in this step: by last entry, the replicas that they go to.
  std::map<EntryId, std::uint64_t> rounds_;
  std::set<EntryId> named_rounds_;  // those that were looked at: others are later copies
  Coverage coverage_;
  testkit::Recorder* recorder_ = nullptr;
};

}  // namespace depfast::saucr

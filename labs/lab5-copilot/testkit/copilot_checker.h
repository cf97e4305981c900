// CopilotChecker: Copilot's invariants, checked after every step.
//
// The checker compares three sources: the frames that replicas send, their disks, and what they
// claim (copilot_observations.h). Frames and disks are facts, which must support the claims: a
// replica runs only commands that it has, or a snapshot of which covers them. They tell which
// entries are chosen: by a fast quorum of fast-accepts in one view, or by a majority
// that has accepted at one ballot. A vote is a frame. A proposer's own is on its disk.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "copilot_messages.h"
#include "copilot_observations.h"
#include "durable_records.h"
#include "log_checker.h"
#include "sim/group_view.h"
#include "tally.h"
#include "testkit/history.h"
#include "violations.h"

namespace depfast::copilot {

// The rules that hold in every run.
enum class Invariant : std::uint8_t {
  kOneValue,      // an entry is decided once, the same everywhere
  kChosen,        // what a replica takes for decided is chosen by a quorum, and it has what it runs
  kDurable,       // what a replica says that it has recorded or promised is on its disk
  kTrueVotes,     // what a replica tells a taker of its vote is what it was asked
  kDependencies,  // of two entries of different lanes that are no no-ops, one depends on the other
  kOrder,         // all replicas run the same commands in the same order, and entries in turn
  kOnce,          // no command runs twice
};

const char* ToString(Invariant invariant);
inline bool IsSafety(Invariant) { return true; }
inline const char* HandoutRule(Invariant) { return "the invariants in copilot_checker.h"; }

class CopilotChecker final : public sim::Observer, public LogChecker, public Violations<Invariant> {
 public:
  // The state machine of the replicas. Of a tally, the checker knows the results.
  enum class Machine { kTally, kOther };

  // Watches `group` from now on, and writes violations into `history` unless that is null.
  // Requires: called before Simulator::Start; both outlive the checker.
  explicit CopilotChecker(const sim::GroupView& group, testkit::History* history = nullptr,
                          Machine machine = Machine::kTally);

  // The ways in which a run decided its entries, without no-ops, by the frames.
  struct Coverage {
    std::uint64_t fast = 0;
    std::uint64_t accepted = 0;  // on the slow path, or by a taker
    std::uint64_t by_takers = 0;
    std::uint64_t no_ops = 0;
    std::uint64_t views = 0;  // begun after the first ones
    std::uint64_t restored = 0;

    Coverage& operator+=(const Coverage& other);
  };
  const Coverage& coverage() const { return coverage_; }

  // See LogChecker. "Index" is the number of a command, in the order in which all run.
  std::vector<PeerId> Proposers() const override;
  bool HasSeveralProposers() const override { return true; }
  std::uint64_t AppliedUpTo(PeerId replica) const override { return Of(replica).commands; }
  std::uint64_t CommittedUpTo() const override { return applied_.size(); }
  std::uint64_t StoredUpTo(PeerId replica) const override { return Of(replica).stored; }
  std::string WhyNotCommitted(PeerId replica, std::uint64_t index,
                              const CommandDigest& command) const override;
  bool NumbersEntries() const override { return true; }
  std::optional<CommandDigest> AppliedAt(std::uint64_t index) const override;
  std::optional<std::string> ResultAt(std::uint64_t index) const override;
  bool HasApplied(const CommandDigest& command) const override {
    return applied_commands_.contains(command);
  }
  std::uint64_t Restored(PeerId replica) const override { return Of(replica).restored; }
  std::size_t LogBytes(PeerId replica) const override;
  bool HasSnapshot(PeerId replica) const override;
  // It names the part of the lab whose rules it breaks, if that is known.
  std::string FirstViolation() const override;

 private:
  using EntryId = std::pair<Lane, EntryIndex>;

  // The content that is proposed, accepted or decided for an entry.
  struct Content {
    std::uint64_t dependency = 0;  // 1 + the dependency; 0 for a no-op, as in the claims
    CommandDigest commands;        // none for a no-op; of a claim, the hash alone
    auto operator<=>(const Content&) const = default;
    bool is_no_op() const { return dependency == 0; }
    // Whether a replica that has this says `claim`.
    bool IsSaidBy(const Content& claim) const {
      return dependency == claim.dependency && commands.hash == claim.commands.hash;
    }
  };
  // A proposal, or what may be accepted at a ballot.
  struct Vote {
    Content content;
    PeerId proposer = kNobody;
    std::uint64_t by = 0;  // the others that have accepted it, one bit each
  };
  struct Entry {
    std::map<View, Vote> proposed;
    std::map<Ballot, Vote> accepted;
    std::map<CommandDigest, Commands> commands;
    std::optional<Content> decided;
    Ballot asked_at = 0;  // of the latest takeover
  };
  // A request that a replica has received and not answered.
  struct Asked {
    EntryId entry;
    Ballot ballot = 0;
    EntryIndex dependency = 0;
  };
  struct Replica {
    Duty duty = Duty::kFollower;
    PerLane ran{};
    EntryId runs{};  // the entry whose commands it applies
    std::uint64_t commands = 0;
    std::uint64_t restored = 0;
    std::map<std::pair<PeerId, CallId>, Asked> asked;
    std::set<CommandDigest> held;  // the commands of entries in messages, of either direction
    // The snapshot that it received last, and how much of it.
    SnapshotId snapshot;
    std::uint64_t snapshot_bytes = 0;
    std::uint64_t stored = 0;  // as many commands are on its disk
    DurableRecords disk;
  };
  struct Applied {
    std::uint64_t name = 0;
    CommandDigest command;
    std::string result;
    EntryId entry{};  // from which the first replica applied it
    PeerId replica = kNobody;
  };

  Replica& Of(PeerId replica) { return replicas_[static_cast<std::size_t>(replica)]; }
  const Replica& Of(PeerId replica) const { return replicas_[static_cast<std::size_t>(replica)]; }
  static std::uint64_t Bit(PeerId replica) { return std::uint64_t{1} << replica; }

  void OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput& output) override;
  void OnOutputsLeave(PeerId replica, Time now, const std::vector<sim::Output>& outputs) override;
  void OnDisk(PeerId replica, Time now, const sim::SimDisk& disk) override;
  void OnRestart(PeerId replica, Time now) override;

  void OnRequest(PeerId replica, PeerId from, const DecodedFrame& frame);
  void OnReply(PeerId replica, const DecodedFrame& frame);
  void OnSent(PeerId replica, const sim::SendFrame& sent);
  void OnSentFastAccept(PeerId replica, const FastAccept& request);
  void OnSentAccept(PeerId replica, const Accept& request);
  void OnSentReply(PeerId replica, const Asked& asked, const DecodedFrame& frame);
  void OnSentPrepare(PeerId replica, const Prepare& request);
  void CheckVoteTold(PeerId replica, EntryId id, const Record& told);
  void Propose(EntryId id, Vote& vote, const Content& content, PeerId replica, const char* part);
  void OnObservation(PeerId replica, const Observation& seen);
  void OnDecide(PeerId replica, EntryId id, const Content& claim);
  void OnDuty(PeerId replica, Duty duty, View pilot, View copilot);
  void OnRestore(PeerId replica, std::uint64_t commands, const PerLane& ran);
  void OnRun(PeerId replica, EntryId id);
  void OnApply(PeerId replica, std::uint64_t number, std::uint64_t name, std::uint64_t hash);
  // The value of which `claim` speaks, if a quorum has chosen it for the entry.
  std::optional<Content> Chosen(EntryId id, const Content& claim);
  // Whether the replica has the commands of an entry.
  bool Holds(PeerId replica, EntryId id, const Content& content);
  void CountStored(PeerId replica);
  // The records on its disk now.
  const DurableRecords& DiskOf(PeerId replica);
  // The part of the path on which an entry is decided.
  static const char* PartOf(const Entry& entry);
  void CheckDependenciesOf(EntryId id, const Content& content);
  void NoteVotes(EntryId id);
  void Violate(Invariant invariant, const char* part, const std::string& what);

  const sim::GroupView group_;
  const Machine machine_;
  const Quorums quorums_;
  std::vector<Replica> replicas_;
  std::map<EntryId, Entry> entries_;
  std::vector<Applied> applied_;  // number 1 first
  std::set<std::uint64_t> applied_names_;
  std::set<CommandDigest> applied_commands_;
  Tally tally_;
  Coverage coverage_;
  const char* first_part_ = "";  // of the first violation; "" if that is not known
};

}  // namespace depfast::copilot

#include "raft_checker.h"

#include <algorithm>
#include <bit>
#include <exception>
#include <optional>
#include <variant>

#include "frame_bodies.h"
#include "log_names.h"

namespace depfast::raft {
namespace {

std::unique_ptr<const Durability> RuleOf(RaftChecker::Persistence persistence) {
  if (persistence == RaftChecker::Persistence::kRequired) return std::make_unique<OnDisks>();
  return std::make_unique<InMemory>();
}

}  // namespace

RaftChecker::RaftChecker(const sim::GroupView& group, testkit::History* history, Machine machine,
                         Persistence persistence)
    : RaftChecker(group, history, machine, RuleOf(persistence)) {}

RaftChecker::RaftChecker(const sim::GroupView& group, testkit::History* history, Machine machine,
                         std::unique_ptr<const Durability> durability)
    : LeaderLogChecker(group, machine, {kWalFile, kSnapshotFile},
                       TermOf<AppendEntries, InstallSnapshot>),
      Violations(history),
      durability_(std::move(durability)),
      disk_required_(durability_->CountsDisks()),
      replicas_(static_cast<std::size_t>(group.replicas())),
      elections_(group, kElectionTimeoutMin,
                 [this](ElectionRule rule, const std::string& what,
                        const std::vector<testkit::EarlierStep>& earlier) {
                   Violate(InvariantOf(rule), what, earlier);
                 }) {
  group.AddObserver(this);
}

Invariant RaftChecker::InvariantOf(ElectionRule rule) {
  switch (rule) {
    case ElectionRule::kOneLeader:
      return Invariant::kElectionSafety;
    case ElectionRule::kOneVote:
      return Invariant::kOneVotePerTerm;
    case ElectionRule::kTermsGoForward:
      return Invariant::kMonotonicTerm;
    case ElectionRule::kTermsBeginByCampaign:
      return Invariant::kTermsBeginByCampaign;
    case ElectionRule::kCampaignHasPreVotes:
      return Invariant::kCampaignHasPreVotes;
    case ElectionRule::kLeaderHasVotes:
      return Invariant::kLeaderHasVotes;
    case ElectionRule::kLeaderIsKept:
      return Invariant::kLeaderIsKept;
    case ElectionRule::kElectionTimeoutPassed:
      break;
  }
  return Invariant::kElectionTimeoutPassed;
}

std::optional<LogChecker::StoredSnapshot> RaftChecker::SnapshotOf(PeerId replica) const {
  const std::string* const bytes = SnapshotBytes(replica);
  auto snapshot = bytes != nullptr ? DecodeSnapshot(*bytes) : std::nullopt;
  if (!snapshot) return std::nullopt;
  return StoredSnapshot{snapshot->last_index, std::move(snapshot->state)};
}

std::optional<std::uint64_t> RaftChecker::LeadsTerm(PeerId replica) const {
  const Claims& state = claims(replica);
  return state.role == Role::kLeader ? std::optional(state.term) : std::nullopt;
}

std::uint64_t RaftChecker::MaxCommitIndex() const {
  std::uint64_t commit = 0;
  for (const Replica& replica : replicas_) commit = std::max(commit, replica.claims.commit_index);
  return commit;
}

// ---- notifications from the simulator ----

void RaftChecker::OnStep(PeerId replica, const sim::StepInput& input,
                         const sim::StepOutput& output) {
  now_ = input.now;
  elections_.OnStep(replica, now_);
  const Claims before = claims(replica);
  for (const sim::FrameArrival& arrival : input.frames) OnReceived(replica, arrival);
  for (const sim::Output& one : output.outputs) {
    if (const auto* seen = std::get_if<Observation>(&one)) OnObservation(replica, *seen);
  }
  CheckLeadersCommit(replica, before);
}

void RaftChecker::CheckLeadersCommit(PeerId replica, const Claims& before) {
  const Claims& after = claims(replica);
  const bool leads =
      before.role == Role::kLeader && after.role == Role::kLeader && before.term == after.term;
  if (!leads || after.commit_index == before.commit_index) return;
  CheckAcknowledged(replica, after.commit_index);
  if (after.commit_index >= committed().size()) return;  // not applied yet
  const std::uint64_t term = committed()[after.commit_index].term;
  if (term == after.term) return;
  Violate(Invariant::kCommitsOwnTerm, Name(replica) + " leads term " + std::to_string(after.term) +
                                          " and commits up to " + At(after.commit_index, term));
}

void RaftChecker::CheckAcknowledged(PeerId leader, std::uint64_t index) {
  const Replica& state = replicas_[Index(leader)];
  const bool has_it = !disk_required_ || state.disk.last_index() >= index;
  std::uint64_t holders = has_it ? Bit(leader) : 0;
  if (state.acknowledged.term == state.claims.term) {
    for (const auto& [peer, up_to] : state.acknowledged.up_to) {
      if (up_to >= index) holders |= Bit(peer);
    }
  }
  if (durability_->WhyNot({holders, holders}, group_.replicas()).empty()) return;
  Violate(Invariant::kCommitNeedsMajority,
          Name(leader) + " commits index " + std::to_string(index) + ", which only " +
              std::to_string(std::popcount(holders)) + " of " + std::to_string(replicas_.size()) +
              " replicas have acknowledged, counting itself");
}

void RaftChecker::OnOutputsLeave(PeerId replica, Time now,
                                 const std::vector<sim::Output>& outputs) {
  now_ = now;
  for (const sim::Output& one : outputs) {
    const auto* frame = std::get_if<sim::SendFrame>(&one);
    if (frame == nullptr) continue;
    const testkit::History::FrameScope scope(history_, frame->bytes);
    OnSent(replica, *frame);
  }
}

void RaftChecker::OnDisk(PeerId replica, Time now, const sim::SimDisk& disk) {
  now_ = now;
  ReadDisk(replica, disk);
}

void RaftChecker::OnRewrite(PeerId replica, Time now, const sim::SimDisk& disk) {
  OnDisk(replica, now, disk);
}

void RaftChecker::OnRestart(PeerId replica, Time now) {
  now_ = now;
  Replica& state = replicas_[Index(replica)];
  state.claims = {};
  state.requests.clear();
  state.acknowledged = {};
  state.held = {};
  state.takes_snapshot = false;
  ReadDisk(replica, group_.disk(replica));
  elections_.OnRestart(replica, now, state.disk.wal.hard_state.term);
}

// ---- observations ----

void RaftChecker::OnObservation(PeerId replica, const Observation& seen) {
  Claims& claims = replicas_[Index(replica)].claims;
  switch (seen.kind) {
    case kRoleObservation:
      OnRole(replica, seen.values[0], static_cast<Role>(seen.values[1]));
      break;
    case kCommitObservation:
      if (seen.values[0] < claims.commit_index) {
        Violate(Invariant::kMonotonicCommit, Name(replica) + " takes its commit index back from " +
                                                 std::to_string(claims.commit_index) + " to " +
                                                 std::to_string(seen.values[0]));
      }
      claims.commit_index = seen.values[0];
      break;
    case kApplyObservation:
      OnApply(replica, seen.values[0], seen.values[1], seen.values[2]);
      break;
    case kRestoreObservation:
      OnRestore(replica, seen.values[0], seen.values[1]);
      break;
    default:
      break;
  }
}

void RaftChecker::OnRestore(PeerId replica, std::uint64_t index, std::uint64_t term) {
  Claims& claims = replicas_[Index(replica)].claims;
  ++claims.restored;
  Note(Name(replica) + " restores a snapshot that ends at index " + std::to_string(index));
  if (index < claims.applied_index) {
    Violate(Invariant::kStateMachineSafety,
            Name(replica) + " restores the state after index " + std::to_string(index) +
                " when it has applied index " + std::to_string(claims.applied_index));
  }
  CheckSnapshot(Name(replica) + " restores", index, term);
  const std::string why_not = replicas_[Index(replica)].held.TakeSnapshot(
      index, replicas_[Index(replica)].disk.snapshot_index, group_.disk(replica).is_damaged());
  if (!why_not.empty()) {
    Violate(Invariant::kSnapshotIsTheState,
            Name(replica) + " says that it restores a snapshot that ends at index " +
                std::to_string(index) + why_not);
  }
  claims.applied_index = index;
}

void RaftChecker::CheckSnapshot(const std::string& holder, std::uint64_t index,
                                std::uint64_t term) {
  if (index < committed().size() && (index == 0 || committed()[index].term == term)) return;
  Violate(Invariant::kSnapshotIsTheState, holder + " a snapshot that ends at " + At(index, term) +
                                              ", which no replica has applied");
}

void RaftChecker::OnRole(PeerId replica, std::uint64_t term, Role role) {
  static constexpr const char* kRoles[] = {"follower", "candidate", "leader"};
  Replica& state = replicas_[Index(replica)];
  if (role != state.claims.role || term != state.claims.term) {
    Note(Name(replica) + " is " + kRoles[static_cast<int>(role) % 3] + " in term " +
         std::to_string(term));
  }
  state.claims.term = term;
  state.claims.role = role;
  elections_.OnRole(replica, term, static_cast<ElectionRole>(role));
  if (role == Role::kLeader) RecordLeader(replica, term);
}

void RaftChecker::RecordLeader(PeerId replica, std::uint64_t term) {
  if (!elections_.OnLeads(replica, term, now_)) return;
  const HardState& on_disk = replicas_[Index(replica)].disk.wal.hard_state;
  if (disk_required_ && on_disk.term <= term && on_disk.voted_for != replica) {
    Violate(Invariant::kDurability, Name(replica) + " leads term " + std::to_string(term) +
                                        " before its own vote is on its disk");
  }
}

void RaftChecker::OnApply(PeerId replica, std::uint64_t index, std::uint64_t term,
                          std::uint64_t hash) {
  Claims& claims = replicas_[Index(replica)].claims;
  if (index != claims.applied_index + 1) {
    Violate(Invariant::kStateMachineSafety, Name(replica) + " applies index " +
                                                std::to_string(index) + " after index " +
                                                std::to_string(claims.applied_index));
  }
  claims.applied_index = index;
  const CommandDigest command = TakeHeld(replica, index, term, hash);
  if (index < committed().size()) {
    const Committed& first = committed()[index];
    if (first.term != term || first.command != command) {
      Violate(Invariant::kStateMachineSafety,
              Name(replica) + " applies another command at index " + std::to_string(index) +
                  " than an earlier replica did (terms " + std::to_string(term) + " and " +
                  std::to_string(first.term) + ")");
    }
    return;
  }
  if (index != committed().size()) return;  // a gap, reported above
  AddCommitted(term, command, claims.term);
  if (command.bytes != 0) ++commands_applied_;
  if (const std::string why = WhyNotDurable(index, term); !why.empty()) {
    Violate(Invariant::kCommitNeedsMajority,
            Name(replica) + " applies " + At(index, term) + ", which " + why);
  }
}

CommandDigest RaftChecker::TakeHeld(PeerId replica, std::uint64_t index, std::uint64_t term,
                                    std::uint64_t hash) {
  const auto known = entries_.find({index, term});
  const bool was_on_disk = known != entries_.end() && (known->second.holders.synced & Bit(replica));
  const auto on_disk = was_on_disk ? std::optional(known->second.command) : std::nullopt;
  const auto [command, why_not] = replicas_[Index(replica)].held.Take(
      index, term, hash, on_disk, group_.disk(replica).is_damaged());
  if (!why_not.empty()) {
    Violate(Invariant::kStateMachineSafety,
            Name(replica) + " says that it applies " + At(index, term) + why_not);
  }
  return command;
}

std::string RaftChecker::WhyNotDurable(std::uint64_t index, std::uint64_t term) const {
  const auto entry = entries_.find({index, term});
  return durability_->WhyNot(entry == entries_.end() ? Holders() : entry->second.holders,
                             group_.replicas());
}

std::uint64_t RaftChecker::StoredUpTo(PeerId replica) const {
  return disk_required_ ? replicas_[Index(replica)].disk.last_index() : AppliedUpTo(replica);
}

std::string RaftChecker::WhyNotCommitted(PeerId replica, std::uint64_t index,
                                         const CommandDigest& command) const {
  const std::string at = "at index " + std::to_string(index);
  const std::uint64_t last = std::min(AppliedUpTo(replica), committed().size() - 1);
  if (index == 0 || index > last) return "it has applied nothing " + at;
  const Committed& applied = committed()[index];
  if (applied.command != command) return "it has applied another command " + at;
  const std::string why = WhyNotDurable(index, applied.term);
  return why.empty() ? "" : "the command " + at + " " + why;
}

// ---- disks ----

void RaftChecker::ReadDisk(PeerId replica, const sim::SimDisk& disk) {
  if (!disk_required_ || disk.is_damaged()) return;
  try {
    ReadSnapshot(replica, disk);
    ReadWal(replica, disk);
  } catch (const std::exception& error) {
    Violate(Invariant::kDurability, Name(replica) + ": " + error.what());
  }
}

void RaftChecker::ReadWal(PeerId replica, const sim::SimDisk& disk) {
  static const sim::SimDisk::File kNone;
  const auto found = disk.files().find(kWalFile);
  const sim::SimDisk::File& file = found == disk.files().end() ? kNone : found->second;
  Disk& known = replicas_[Index(replica)].disk;
  const std::uint64_t last = LastCommittedOn(known);
  if (known.generation != file.generation) {
    known.generation = file.generation;
    known.bytes_read = 0;
    known.wal = {};
  }
  const std::string_view durable(file.data.data(), file.durable_bytes);
  known.bytes_read += known.wal.Read(durable.substr(known.bytes_read), [&](std::uint64_t first) {
    const RaftLog& log = known.wal.log;
    for (std::uint64_t index = first; index <= log.last_index(); ++index) {
      RecordEntry(index, log.At(index), log.TermAt(index - 1), replica).holders.synced |=
          Bit(replica);
    }
  });
  const HardState& on_disk = known.wal.hard_state;
  elections_.OnVoteOnDisk(replica, on_disk.term, on_disk.voted_for, now_);
  if (!Covers(known, last)) {
    Violate(Invariant::kDurability, Name(replica) + " removes the committed index " +
                                        std::to_string(last) + " from its disk");
  }
  if (known.wal.log.base_index() > known.snapshot_index) {
    Violate(Invariant::kDurability,
            Name(replica) + " has a log on its disk that begins after index " +
                std::to_string(known.wal.log.base_index()) + ", and a snapshot up to index " +
                std::to_string(known.snapshot_index));
  }
}

std::uint64_t RaftChecker::LastCommittedOn(const Disk& disk) const {
  const RaftLog& log = disk.wal.log;
  const std::uint64_t index = std::min(log.last_index(), committed().size() - 1);
  return log.Knows(index) && log.TermAt(index) == committed()[index].term ? index : 0;
}

bool RaftChecker::Covers(const Disk& disk, std::uint64_t index) const {
  const RaftLog& log = disk.wal.log;
  return index <= disk.snapshot_index ||
         (log.Knows(index) && log.TermAt(index) == committed()[index].term);
}

void RaftChecker::ReadSnapshot(PeerId replica, const sim::SimDisk& disk) {
  Disk& known = replicas_[Index(replica)].disk;
  const auto file = disk.files().find(kSnapshotFile);
  if (file == disk.files().end()) {
    known.snapshot_generation = known.snapshot_index = 0;
    return;
  }
  if (known.snapshot_generation == file->second.generation) return;
  known.snapshot_generation = file->second.generation;
  const std::string whose = Name(replica) + " has on its disk";
  const auto snapshot = DecodeSnapshot({file->second.data.data(), file->second.durable_bytes});
  if (!snapshot) {
    Violate(Invariant::kSnapshotIsTheState, whose + " a snapshot that is damaged");
    return;
  }
  known.snapshot_index = snapshot->last_index;
  CheckSnapshot(whose, snapshot->last_index, snapshot->last_term);
  if (machine_ != Machine::kTally || snapshot->last_index >= committed().size()) return;
  if (snapshot->state != committed()[snapshot->last_index].state.Snapshot()) {
    Violate(Invariant::kSnapshotIsTheState, whose +
                                                " a snapshot that is not the state after index " +
                                                std::to_string(snapshot->last_index));
  }
}

}  // namespace depfast::raft

#include "saucr_checker.h"

#include <algorithm>
#include <bit>
#include <exception>
#include <ranges>
#include <variant>

#include "frame_bodies.h"

namespace depfast::saucr {
namespace {

Invariant InvariantOf(ElectionRule rule) {
  static const std::map<ElectionRule, Invariant> kOfTheirOwn = {
      {ElectionRule::kOneLeader, Invariant::kElectionSafety},
      {ElectionRule::kOneVote, Invariant::kOneVote},
      {ElectionRule::kTermsGoForward, Invariant::kMonotonic},
      {ElectionRule::kLeaderHasVotes, Invariant::kLeaderHasVotes}};
  const auto found = kOfTheirOwn.find(rule);
  return found == kOfTheirOwn.end() ? Invariant::kElections : found->second;
}

std::string OfReplicas(std::uint64_t set) { return std::to_string(std::popcount(set)); }

}  // namespace

SaucrChecker::SaucrChecker(const sim::GroupView& group, testkit::History* history, Machine machine,
                           Parts parts)
    : LeaderLogChecker(group, machine, {kWalFile, kSnapshotFile}, TermOf<AppendEntries>),
      Violations(history),
      parts_(parts),
      quorums_(group.replicas()),
      replicas_(static_cast<std::size_t>(group.replicas())),
      elections_(group, kElectionTimeoutMin,
                 [this](ElectionRule rule, const std::string& what,
                        const std::vector<testkit::EarlierStep>& earlier) {
                   Violate(InvariantOf(rule), what, earlier);
                 }) {
  group.AddObserver(this);
}

// ---- a test's view ----

std::optional<std::uint64_t> SaucrChecker::LeadsTerm(PeerId replica) const {
  const Claims& state = claims(replica);
  return state.role == Role::kLeader ? std::optional(state.term) : std::nullopt;
}

bool SaucrChecker::MayServe() const {
  int up = 0;
  int whole = 0;
  for (PeerId id = 0; id < group_.replicas(); ++id) {
    if (!group_.IsUp(id)) continue;
    ++up;
    const Replica& state = Of(id);
    if (!IsRecovering(state) && state.acked >= LearnedOf(state, id)) ++whole;
  }
  return up >= quorums_.majority() && whole >= quorums_.minority();
}

std::uint64_t SaucrChecker::NamedLast() const {
  const auto last = entries_.find({committed().back().term, CommittedUpTo()});
  return last == entries_.end() ? 0 : last->second.named.value_or(0);
}

std::string SaucrChecker::WhyNotCommitted(PeerId replica, std::uint64_t index,
                                          const CommandDigest& command) const {
  const std::string at = "at index " + std::to_string(index);
  if (index == 0 || index > AppliedUpTo(replica)) return "it has applied nothing " + at;
  // Every commitment is checked by R3 when its leader claims it.
  if (index >= committed().size()) return "no leader has committed an entry " + at;
  if (committed()[index].command != command) return "another command is committed " + at;
  return "";
}

std::optional<LogChecker::StoredSnapshot> SaucrChecker::SnapshotOf(PeerId replica) const {
  const std::string* const bytes = SnapshotBytes(replica);
  auto snapshot = bytes != nullptr ? raft::DecodeSnapshot(*bytes) : std::nullopt;
  if (!snapshot) return std::nullopt;
  return StoredSnapshot{snapshot->last_index, std::move(snapshot->state)};
}

// ---- violations ----

void SaucrChecker::Violate(Invariant invariant, const std::string& what,
                           std::vector<testkit::EarlierStep> earlier) {
  const bool is_of_markers = invariant == Invariant::kMarked ||
                             invariant == Invariant::kMarkersTrue ||
                             invariant == Invariant::kGoForward || invariant == Invariant::kNaming;
  if (parts_ == Parts::k6A && is_of_markers) return;
  Violations::Violate(invariant, what, std::move(earlier));
}

void SaucrChecker::Require(bool holds, Invariant invariant, PeerId replica,
                           const std::string& what) {
  if (!holds) Violate(invariant, Name(replica) + " " + what);
}

// ---- notifications from the simulator ----

void SaucrChecker::OnStep(PeerId replica, const sim::StepInput& input,
                          const sim::StepOutput& output) {
  now_ = input.now;
  elections_.OnStep(replica, now_);
  for (const sim::FrameArrival& arrival : input.frames) OnReceived(replica, arrival);
  for (const sim::Output& one : output.outputs) {
    if (const auto* seen = std::get_if<Observation>(&one)) OnObservation(replica, *seen);
  }
}

void SaucrChecker::OnOutputsLeave(PeerId replica, Time now,
                                  const std::vector<sim::Output>& outputs) {
  now_ = now;
  for (const sim::Output& one : outputs) {
    const auto* frame = std::get_if<sim::SendFrame>(&one);
    if (frame == nullptr) continue;
    const testkit::History::FrameScope scope(history_, frame->bytes);
    OnSent(replica, *frame);
  }
  for (const auto& [last, recipients] : std::exchange(rounds_, {})) {
    CheckNaming(replica, last, recipients);
  }
}

void SaucrChecker::OnDisk(PeerId replica, Time now, const sim::SimDisk& disk) {
  now_ = now;
  ReadDisk(replica, disk);
}

void SaucrChecker::OnRewrite(PeerId replica, Time now, const sim::SimDisk& disk) {
  OnDisk(replica, now, disk);
}

void SaucrChecker::OnRestart(PeerId replica, Time now) {
  OnDisk(replica, now, group_.disk(replica));
  Replica& state = Of(replica);
  const std::uint64_t disk_term = state.disk.wal().hard_state.term;
  Replica fresh;
  fresh.disk = std::move(state.disk);
  fresh.lost_entries = !fresh.disk.SaysAllIsThere() && !fresh.disk.is_damaged();
  fresh.lives_found = fresh.disk.wal().lives;
  fresh.acked = fresh.disk.last();
  fresh.told = fresh.disk.wal().map;
  state = std::move(fresh);
  elections_.OnRestart(replica, now, disk_term);
}

// ---- disks, and what a replica must still have ----

void SaucrChecker::ReadDisk(PeerId replica, const sim::SimDisk& disk) {
  SaucrDisk& known = Of(replica).disk;
  const Markers before = known.wal().markers;
  try {
    known.Read(disk);
  } catch (const std::exception& error) {
    Violate(Invariant::kPersisted, Name(replica) + ": " + error.what());
    return;
  }
  if (known.is_damaged()) return;
  const auto& [fast_switch, latest_on_disk] = known.wal().markers;
  if (fast_switch != before.fast_switch) {
    Mark(replica, "fast-switch is on its disk: " + At(fast_switch));
  }
  if (latest_on_disk != before.latest_on_disk) {
    Mark(replica, "latest-on-disk is on its disk: " + At(latest_on_disk));
  }
  const HardState& on_disk = known.wal().hard_state;
  elections_.OnVoteOnDisk(replica, on_disk.term, on_disk.voted_for, now_);
  NoteLogEnd(Of(replica), replica, known.last());
  const EntryId floor = FloorOf(replica);
  Require(!known.SaysAllIsThere() || known.last() >= floor, Invariant::kMarkersTrue, replica,
          "has a disk that says that nothing is lost, and ends at " + At(known.last()) +
              "; the replica has had " + At(floor));
}

bool SaucrChecker::IsRecovering(const Replica& replica) const {
  return replica.lost_entries &&
         replica.lle_answers.size() < static_cast<std::size_t>(quorums_.minority());
}

// The f answers that it has used may be any: the least of the largest values of f answers.
template <typename Value>
Value SaucrChecker::Learned(const Replica& replica, std::vector<Value> LleReply::* told,
                            PeerId of) const {
  const auto minority = static_cast<std::size_t>(quorums_.minority());
  if (!replica.lost_entries || replica.lle_answers.size() < minority) return {};
  std::vector<Value> values;
  for (const auto& [from, answer] : replica.lle_answers) values.push_back(In(answer.*told, of));
  std::ranges::sort(values);
  return values[minority - 1];
}

EntryId SaucrChecker::LearnedOf(const Replica& replica, PeerId of) const {
  return Learned(replica, &LleReply::map, of);
}

// An answer that comes while the replica is recovering may have been given up.
void SaucrChecker::CheckLives(PeerId replica, const Lives& lives, const char* message) {
  const Replica& state = Of(replica);
  const bool has_learned = state.claims.recovery == Recovery::kRecovered;
  for (PeerId of = 0; of < std::ssize(lives); ++of) {
    const Life learned = has_learned ? Learned(state, &LleReply::lives, of) : 0;
    const Life least = std::max(In(state.lives_found, of), learned);
    if (In(lives, of) >= least) continue;
    Violate(Invariant::kGoForward, Name(replica) + " sends " + message + " that names life " +
                                       std::to_string(In(lives, of)) + " of " + Name(of) +
                                       "; it has known life " + std::to_string(least));
    return;
  }
}

void SaucrChecker::NoteLogEnd(Replica& replica, PeerId id, EntryId last) {
  const EntryId learned = LearnedOf(replica, id);
  if (learned != EntryId() && last >= learned) replica.has_reached_lle = true;
}

EntryId SaucrChecker::FloorOf(PeerId replica) const {
  const Replica& state = Of(replica);
  // R29: it has given up what nobody has.
  const bool gave_up = state.leading.whole.size() >= static_cast<std::size_t>(quorums_.minority());
  const bool is_void = gave_up || state.has_reached_lle;
  return is_void ? state.acked : std::max(state.acked, LearnedOf(state, replica));
}

// ---- claims ----

void SaucrChecker::OnObservation(PeerId replica, const Observation& seen) {
  const auto& values = seen.values;
  switch (seen.kind) {
    case kRoleObservation:
      OnRole(replica, values[0], static_cast<Role>(values[1]));
      break;
    case kCommitObservation:
      OnCommit(replica, values[0]);
      break;
    case kApplyObservation:
      OnApply(replica, {values[1], values[0]}, values[2]);
      break;
    case kRestoreObservation:
      OnRestore(replica, {values[1], values[0]});
      break;
    case kModeObservation:
      OnMode(replica, static_cast<Mode>(values[1]));
      break;
    case kFlushObservation:
      OnFlush(replica, static_cast<FlushReason>(values[0]));
      break;
    case kRecoveryObservation:
      OnRecovery(replica, static_cast<Recovery>(values[0]), {values[1], values[2]});
      break;
    default:
      break;
  }
}

void SaucrChecker::OnRole(PeerId replica, std::uint64_t term, Role role) {
  static constexpr const char* kRoles[] = {"follower", "candidate", "leader"};
  Replica& state = Of(replica);
  if (role != state.claims.role || term != state.claims.term) {
    Note(Name(replica) + " is " + kRoles[static_cast<int>(role) % 3] + " in term " +
         std::to_string(term));
  }
  const bool begins =
      role == Role::kLeader && (role != state.claims.role || term != state.claims.term);
  if (begins) state.claims.mode = Mode::kSlow;  // R8
  state.claims.term = term;
  state.claims.role = role;
  elections_.OnRole(replica, term, static_cast<ElectionRole>(role));
  if (role == Role::kLeader) RecordLeader(replica, term);
}

void SaucrChecker::RecordLeader(PeerId replica, std::uint64_t term) {
  if (!elections_.OnLeads(replica, term, now_)) return;
  const SaucrDisk& disk = Of(replica).disk;
  const HardState& on_disk = disk.wal().hard_state;
  Require(on_disk.term > term || on_disk.voted_for == replica || disk.is_damaged(),
          Invariant::kTermOnDisk, replica,
          "leads term " + std::to_string(term) + " before its own vote is on its disk");
}

void SaucrChecker::OnMode(PeerId replica, Mode mode) {
  const bool is_fast = mode == Mode::kFast;
  const std::string words = is_fast ? "fast mode" : "slow mode";
  Note(Name(replica) + " is in " + words);
  Mark(replica, words, is_fast ? "yes" : "no");
}

// By a message: what a replica says of its mode moves no entry.
void SaucrChecker::OnShownMode(PeerId replica, Mode mode) {
  const Mode before = std::exchange(Of(replica).claims.mode, mode);
  if (before == Mode::kSlow && mode == Mode::kFast) ++coverage_.switches;
}

void SaucrChecker::OnFlush(PeerId replica, FlushReason reason) {
  static constexpr const char* kFlushes[] = {
      "a flush in the background", "a flush: the leader is silent", "a flush: slow mode begins"};
  if (reason == FlushReason::kSilent) ++coverage_.silences;
  Mark(replica, kFlushes[static_cast<int>(reason) % 3]);
}

void SaucrChecker::Mark(PeerId replica, const std::string& text, const std::string& vote) {
  if (recorder_ == nullptr) return;
  recorder_->Add(
      testkit::Recorder::Mark{.at = now_, .replica = replica, .text = text, .vote = vote});
}

void SaucrChecker::OnRecovery(PeerId replica, Recovery recovery, EntryId lle) {
  static constexpr const char* kWords[] = {"has lost nothing", "is recovering", "has its LLE"};
  Replica& state = Of(replica);
  const bool may_have_lost = state.lost_entries || state.disk.is_damaged();
  const bool may_know = recovery != Recovery::kRecovered || !IsRecovering(state);
  if (may_have_lost && may_know) {
    state.claims.recovery = recovery;
    state.claims.lle = lle;
    if (recovery == Recovery::kRecovered) ++coverage_.recoveries;
  }
  const std::string words = kWords[static_cast<int>(recovery) % 3];
  Note(Name(replica) + " " + words);
  const std::string end = recovery == Recovery::kRecovered ? ": " + At(lle) : "";
  Mark(replica, words + end, recovery == Recovery::kRecovering ? "no" : "yes");
}

void SaucrChecker::OnRestore(PeerId replica, EntryId last) {
  Claims& claims = Of(replica).claims;
  ++claims.restored;
  ++coverage_.restored;
  Note(Name(replica) + " restores a snapshot that ends at " + At(last));
  Require(IsCommitted(last) && last.index >= claims.applied.index, Invariant::kStateMachineSafety,
          replica,
          "restores the state after " + At(last) + ", which " +
              (IsCommitted(last) ? "is behind its own" : "is not committed"));
  Replica& state = Of(replica);
  const std::string why_not =
      state.held.TakeSnapshot(last.index, state.disk.snapshot_index(), state.disk.is_damaged());
  Require(why_not.empty(), Invariant::kStateMachineSafety, replica,
          "says that it restores a snapshot that ends at " + At(last) + why_not);
  claims.applied = last;
}

void SaucrChecker::OnApply(PeerId replica, EntryId id, std::uint64_t hash) {
  Claims& claims = Of(replica).claims;
  Require(id.index == claims.applied.index + 1, Invariant::kStateMachineSafety, replica,
          "applies index " + std::to_string(id.index) + " after index " +
              std::to_string(claims.applied.index));
  claims.applied = id;
  Replica& state = Of(replica);
  const LogEntry* const found = state.disk.Find(id);
  const auto on_disk = found != nullptr ? std::optional(DigestOf(found->command)) : std::nullopt;
  const std::string why_not =
      state.held.Take(id.index, id.term, hash, on_disk, state.disk.is_damaged()).why;
  Require(why_not.empty(), Invariant::kStateMachineSafety, replica,
          "says that it applies " + At(id) + why_not);
  if (!IsCommitted(id)) {
    Violate(Invariant::kStateMachineSafety,
            Name(replica) + " applies " + At(id) + ", which no leader has committed");
  } else if (committed()[id.index].command.hash != hash) {
    Violate(Invariant::kStateMachineSafety,
            Name(replica) + " applies another command at " + At(id) + " than that entry's");
  }
}

// ---- commitment ----

void SaucrChecker::OnCommit(PeerId replica, EntryIndex index) {
  Claims& claims = Of(replica).claims;
  Require(index >= claims.commit_index, Invariant::kMonotonic, replica,
          "takes its commit index back from " + std::to_string(claims.commit_index) + " to " +
              std::to_string(index));
  claims.commit_index = index;
  if (index < committed().size()) return;
  if (claims.role != Role::kLeader) {
    Violate(Invariant::kCommitted, Name(replica) + " takes index " + std::to_string(index) +
                                       " for committed, and no leader has");
    return;
  }
  // A log that nobody has seen yet ends with an entry of its leader's term.
  const auto& log = leader_logs_[claims.term];
  const auto shown = log.find(index);
  const EntryId id{shown == log.end() ? claims.term : shown->second, index};
  const std::string why = id.term == claims.term ? WhyNoQuorum(replica, id)
                                                 : ": it counts an entry of an earlier term alone";
  Require(why.empty(), Invariant::kCommitted, replica,
          "leads term " + std::to_string(claims.term) + " and commits " + At(id) + why);
  TakeCommitted(replica, id);
}

std::string SaucrChecker::WhyNoQuorum(PeerId leader, EntryId id) const {
  const Replica& state = Of(leader);
  const bool on_own_disk = state.disk.Has(id);
  const auto entry = entries_.find(id);
  std::uint64_t named = entry == entries_.end() ? 0 : entry->second.named.value_or(0) | Bit(leader);
  if (parts_ == Parts::k6A) named = ~std::uint64_t{0};
  std::uint64_t disks = on_own_disk ? Bit(leader) : 0;
  const bool has_marked = !state.disk.SaysAllIsThere() || parts_ == Parts::k6A;
  std::uint64_t memories = on_own_disk || has_marked ? Bit(leader) : 0;
  if (state.leading.term == id.term) {
    for (PeerId peer = 0; peer < group_.replicas(); ++peer) {
      if (peer == leader) continue;
      const Ack& ack = state.leading.acks[static_cast<std::size_t>(peer)];
      if (ack.durable >= id.index) disks |= Bit(peer);
      if (ack.buffered >= id.index && IsOfItsLatestLife(state.leading, peer)) {
        memories |= Bit(peer);
      }
    }
  }
  if (std::popcount(disks) >= quorums_.majority()) return "";
  if (std::popcount(memories & named) >= quorums_.fast()) return "";
  return ", which only " + OfReplicas(disks) + " replicas have on their disks (" +
         std::to_string(quorums_.majority()) + " must), and " + OfReplicas(memories & named) +
         " that its round has named in the memories of their latest lives (" +
         std::to_string(quorums_.fast()) + " must), the leader counted";
}

bool SaucrChecker::IsOfItsLatestLife(const Leading& leading, PeerId replica) const {
  const auto index = static_cast<std::size_t>(replica);
  return std::ranges::all_of(leading.acks, [&](const Ack& ack) {
    return ack.lives.size() <= index || ack.lives[index] <= leading.acks[index].life;
  });
}

const SaucrChecker::Entry* SaucrChecker::FindEntry(EntryId id) {
  const auto shown = entries_.find(id);
  if (shown != entries_.end()) return &shown->second;
  for (const Replica& replica : replicas_) {
    const LogEntry* const found = replica.disk.Find(id);
    if (found == nullptr) continue;
    const Entry entry{DigestOf(found->command), replica.disk.TermBefore(id), std::nullopt};
    return &entries_.emplace(id, entry).first->second;
  }
  return nullptr;
}

void SaucrChecker::TakeCommitted(PeerId leader, EntryId id) {
  std::vector<std::pair<EntryId, CommandDigest>> chain;
  for (; id.index >= committed().size();) {
    const Entry* const entry = FindEntry(id);
    if (entry == nullptr) {
      Violate(Invariant::kCommitted,
              Name(leader) + " commits " + At(id) + ", which is in no message and on no disk");
      return;
    }
    chain.emplace_back(id, entry->command);
    id = {entry->prev_term, id.index - 1};
  }
  Require(IsCommitted(id), Invariant::kLeaderCompleteness, leader,
          "commits entries behind " + At(id) + ", where another entry is committed");
  const Claims& claims = Of(leader).claims;
  for (const auto& [each, command] : std::views::reverse(chain)) {
    AddCommitted(each.term, command, claims.term);
  }
  (claims.mode == Mode::kFast ? coverage_.fast : coverage_.slow) += chain.size();
}

}  // namespace depfast::saucr

#include "raft_situations.h"

#include <exception>
#include <string_view>
#include <variant>

namespace depfast::raft {

RaftSituations::RaftSituations(sim::Simulator& simulator, const RaftChecker& checker)
    : simulator_(simulator),
      checker_(checker),
      replicas_(static_cast<std::size_t>(simulator.replicas())) {
  simulator.AddObserver(this);
}

testkit::Situations RaftSituations::Seen() const {
  const auto& elections = checker_.elections().situations();
  return {{"a vote denied", elections.votes_denied > 0},
          {"a pre-vote asked for while a leader is alive", elections.pre_votes_under_a_leader > 0},
          {"a leader deposed", leader_deposed_},
          {"a campaign lost", campaign_lost_},
          {"a log overwritten", log_overwritten_},
          {"a crash with an unfinished write", write_unfinished_}};
}

testkit::Situations RaftSituations::SeenOfSnapshots() const {
  return {{"a crash with a part of a snapshot", transfer_unfinished_}};
}

void RaftSituations::OnStep(PeerId replica, const sim::StepInput&, const sim::StepOutput& output) {
  for (const sim::Output& one : output.outputs) {
    const auto* seen = std::get_if<Observation>(&one);
    if (seen == nullptr || seen->kind != kRoleObservation) continue;
    OnRole(replicas_[static_cast<std::size_t>(replica)], seen->values[0],
           static_cast<Role>(seen->values[1]));
  }
}

void RaftSituations::OnRole(Replica& replica, std::uint64_t term, Role role) {
  if (replica.role == Role::kLeader && role != Role::kLeader) leader_deposed_ = true;
  const bool was_candidate = replica.role == Role::kCandidate;
  if (was_candidate && (role == Role::kFollower || term > replica.term)) campaign_lost_ = true;
  replica.term = term;
  replica.role = role;
}

void RaftSituations::OnDisk(PeerId replica, Time, const sim::SimDisk& disk) {
  const auto file = disk.files().find(kWalFile);
  if (file == disk.files().end()) return;
  Replica& known = replicas_[static_cast<std::size_t>(replica)];
  if (known.generation != file->second.generation) {
    known.generation = file->second.generation;
    known.bytes_read = 0;
    known.wal = {};
  }
  const std::string_view durable(file->second.data.data(), file->second.durable_bytes);
  std::uint64_t last = known.wal.log.last_index();
  try {
    known.bytes_read += known.wal.Read(durable.substr(known.bytes_read), [&](std::uint64_t first) {
      if (first <= last) log_overwritten_ = true;
      last = known.wal.log.last_index();
    });
  } catch (const std::exception&) {  // the checker reports an impossible record
  }
}

void RaftSituations::OnFaultBegins(Time, const faults::Fault& fault) {
  if (fault.kind != faults::Fault::Kind::kCrash) return;
  for (const PeerId replica : fault.replicas) {
    if (simulator_.disk(replica).queued_bytes() > 0) write_unfinished_ = true;
    if (checker_.IsTakingSnapshot(replica)) transfer_unfinished_ = true;
  }
}

void RaftSituations::OnRestart(PeerId replica, Time) {
  replicas_[static_cast<std::size_t>(replica)].role = Role::kFollower;
}

}  // namespace depfast::raft

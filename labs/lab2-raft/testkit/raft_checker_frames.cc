// RaftChecker: the reading of frames, as they arrive and as they leave.
#include <algorithm>
#include <optional>

#include "depfast/host/frame.h"
#include "frame_bodies.h"
#include "log_names.h"
#include "raft_checker.h"

namespace depfast::raft {
void RaftChecker::OnReceived(PeerId replica, const sim::FrameArrival& arrival) {
  std::string error;
  const auto frame = DecodeFrame(*arrival.bytes, error);
  if (!frame) return;
  if (frame->header.kind == FrameKind::kRequest) OnRequest(replica, arrival.from, *frame);
  if (frame->header.kind != FrameKind::kReply || arrival.from >= kFirstClient) return;
  OnAnswered(replica, arrival.from, *frame);
}

void RaftChecker::OnAnswered(PeerId leader, PeerId from, const DecodedFrame& frame) {
  VisitReply<RequestVote>(frame, [&](const auto& body) {
    elections_.OnVoteAnswered(leader, from, frame.header.call, body.term, body.granted);
  });
  // Only success says that something is durable. A refusal promises nothing, whatever it tells.
  VisitReply<AppendEntries>(frame, [&](const auto& body) {
    if (body.success) AcknowledgedIn(leader, body.term).Note(body.term, from, body.match_index);
  });
  VisitReply<InstallSnapshot>(frame, [&](const auto& body) {
    Acknowledged& acknowledged = AcknowledgedIn(leader, body.term);
    const auto snapshot = acknowledged.snapshots.find(from);
    if (snapshot == acknowledged.snapshots.end()) return;
    const auto [last_index, bytes] = snapshot->second;
    if (body.received == bytes) acknowledged.Note(body.term, from, last_index);
  });
}

RaftChecker::Acknowledged& RaftChecker::AcknowledgedIn(PeerId leader, std::uint64_t term) {
  Acknowledged& acknowledged = replicas_[Index(leader)].acknowledged;
  if (term > acknowledged.term) acknowledged = {term, {}, {}};
  return acknowledged;
}

void RaftChecker::Acknowledged::Note(std::uint64_t in_term, PeerId peer, std::uint64_t index) {
  if (in_term != term) return;
  std::uint64_t& latest = up_to[peer];
  latest = std::max(latest, index);
}

// A test may send messages on behalf of a replica, so the sender does not matter.
void RaftChecker::OnRequest(PeerId replica, PeerId from, const DecodedFrame& frame) {
  const auto remember = [&](const Request& asked) {
    tests_ask_ = tests_ask_ || from >= kFirstClient;
    replicas_[Index(replica)].requests[{from, frame.header.call}] = asked;
  };
  VisitBody<RequestVote>(frame, [&](const RequestVote& body) {
    remember({.term = body.term,
              .vote_request = body,
              .vote = elections_.OnAsked(replica, {body.term, body.pre_vote}),
              .voter_is_ahead = replicas_[Index(replica)].disk.IsAheadOf(body)});
  });
  VisitBody<AppendEntries>(frame, [&](const AppendEntries& body) {
    elections_.OnLeaderMessage(replica, body.term);
    remember({.term = body.term});
    RecordReceivedEntries(replica, body);
  });
  VisitBody<InstallSnapshot>(frame, [&](const InstallSnapshot& body) {
    elections_.OnLeaderMessage(replica, body.term);
    remember(
        {.term = body.term, .snapshot_index = body.last_index, .snapshot_bytes = body.total_bytes});
    replicas_[Index(replica)].held.HoldPart(body.last_index, body.offset, body.data.size(),
                                            body.total_bytes);
  });
}

void RaftChecker::RecordReceivedEntries(PeerId replica, const AppendEntries& request) {
  std::uint64_t index = request.prev_log_index;
  std::uint64_t prev_term = request.prev_log_term;
  for (const LogEntry& entry : request.entries) {
    replicas_[Index(replica)].held.Hold(++index, entry.term, DigestOf(entry.command));
    if (!durability_->CountsMemory()) continue;
    RecordEntry(index, entry, prev_term, replica).holders.received |= Bit(replica);
    prev_term = entry.term;
  }
}

void RaftChecker::OnSentRequest(PeerId replica, PeerId to, const DecodedFrame& frame) {
  VisitBody<RequestVote>(frame, [&](const auto& body) {
    OnSentRequestVote(replica, body);
    elections_.OnSentVoteRequest(replica, to, frame.header.call, {body.term, body.pre_vote});
  });
  VisitBody<AppendEntries>(frame, [&](const auto& body) { OnSentAppendEntries(replica, body); });
  VisitBody<InstallSnapshot>(frame, [&](const auto& body) {
    OnSentInstallSnapshot(replica, body);
    AcknowledgedIn(replica, body.term).snapshots[to] = {body.last_index, body.total_bytes};
  });
}

void RaftChecker::OnSent(PeerId replica, const sim::SendFrame& sent) {
  if (sent.to >= kFirstClient && !tests_ask_) return;
  std::string error;
  const auto frame = DecodeFrame(*sent.bytes, error);
  if (!frame) return;
  if (frame->header.kind == FrameKind::kRequest) return OnSentRequest(replica, sent.to, *frame);
  auto& requests = replicas_[Index(replica)].requests;
  const auto found = requests.find({sent.to, frame->header.call});
  if (frame->header.kind != FrameKind::kReply || found == requests.end()) return;
  const Request asked = found->second;
  requests.erase(found);
  VisitReply<RequestVote>(*frame, [&](const auto& body) { OnVoteReply(replica, asked, body); });
  VisitReply<AppendEntries>(*frame, [&](const auto& body) { OnAppendReply(replica, asked, body); });
  VisitReply<InstallSnapshot>(*frame,
                              [&](const auto& body) { OnInstallReply(replica, asked, body); });
}

void RaftChecker::OnSentInstallSnapshot(PeerId replica, const InstallSnapshot& request) {
  elections_.OnMessage(replica, request.term);
  RequireTermOnDisk(replica, request.term, "an InstallSnapshot");
  RecordLeader(replica, request.term);
  CheckSnapshot(Name(replica) + " sends", request.last_index, request.last_term);
  CheckChunk(replica, request);
}

void RaftChecker::CheckChunk(PeerId replica, const InstallSnapshot& chunk) {
  if (machine_ != Machine::kTally || chunk.last_index >= committed().size()) return;
  const std::string state = committed()[chunk.last_index].state.Snapshot();
  const bool is_part = chunk.total_bytes == state.size() && chunk.offset <= state.size() &&
                       std::string_view(state).substr(chunk.offset).starts_with(chunk.data);
  if (is_part) return;
  Violate(Invariant::kSnapshotIsTheState,
          Name(replica) + " sends a chunk at byte " + std::to_string(chunk.offset) +
              " that is no part of the state after index " + std::to_string(chunk.last_index));
}

void RaftChecker::OnInstallReply(PeerId replica, const Request& asked,
                                 const InstallSnapshotReply& reply) {
  elections_.OnMessage(replica, reply.term);
  RequireTermOnDisk(replica, reply.term, "an InstallSnapshot reply");
  replicas_[Index(replica)].takes_snapshot =
      reply.received > 0 && reply.received < asked.snapshot_bytes;
  const std::uint64_t on_disk = replicas_[Index(replica)].disk.last_index();
  if (disk_required_ && reply.received >= asked.snapshot_bytes && on_disk < asked.snapshot_index) {
    Violate(Invariant::kDurability, Name(replica) + " acknowledges a snapshot that ends at index " +
                                        std::to_string(asked.snapshot_index) +
                                        " while its disk ends at index " + std::to_string(on_disk));
  }
}

void RaftChecker::RequireTermOnDisk(PeerId replica, std::uint64_t term, const char* message,
                                    bool promises) {
  const std::uint64_t on_disk = replicas_[Index(replica)].disk.wal.hard_state.term;
  if (disk_required_ && on_disk < term) {
    Violate(promises ? Invariant::kDurability : Invariant::kToldTermIsDurable,
            Name(replica) + " sends " + message + " of term " + std::to_string(term) +
                " while its disk says term " + std::to_string(on_disk));
  }
}

void RaftChecker::OnSentRequestVote(PeerId replica, const RequestVote& request) {
  if (request.pre_vote) return;  // a pre-vote promises nothing
  elections_.OnMessage(replica, request.term, /*campaigns=*/true);
  RequireTermOnDisk(replica, request.term, "a RequestVote");
}

bool RaftChecker::Disk::IsAheadOf(const RequestVote& candidate) const {
  return std::pair(wal.log.last_term(), wal.log.last_index()) >
         std::pair(candidate.last_log_term, candidate.last_log_index);
}

void RaftChecker::OnVoteReply(PeerId replica, const Request& asked, const RequestVoteReply& reply) {
  const bool promises = reply.granted && !asked.vote_request.pre_vote;
  elections_.OnMessage(replica, reply.term, /*campaigns=*/false, promises);
  RequireTermOnDisk(replica, reply.term, "a RequestVote reply", promises);
  elections_.OnVoteReply(replica, asked.vote, reply.granted);
  const RequestVote& request = asked.vote_request;
  if (request.pre_vote || !reply.granted) return;
  const Disk& disk = replicas_[Index(replica)].disk;
  const HardState& on_disk = disk.wal.hard_state;
  const bool is_there = on_disk.term > asked.term ||
                        (on_disk.term == asked.term && on_disk.voted_for == request.candidate);
  if (disk_required_ && !is_there) {
    Violate(Invariant::kDurability, Name(replica) + " grants its vote of term " +
                                        std::to_string(asked.term) + " to " +
                                        Name(request.candidate) + " before that is on its disk");
  }
  // Its disk may be behind its memory when the request comes, and may have more when the vote is
  // durable.
  if (asked.voter_is_ahead && disk.IsAheadOf(request)) {
    Violate(Invariant::kElectionRestriction,
            Name(replica) + " votes for " + Name(request.candidate) + ", whose log ends at " +
                At(request.last_log_index, request.last_log_term) + "; its own ends at " +
                At(disk.wal.log.last_index(), disk.wal.log.last_term()));
  }
  elections_.OnVote(replica, asked.term, request.candidate, now_);
}

void RaftChecker::OnSentAppendEntries(PeerId replica, const AppendEntries& request) {
  elections_.OnMessage(replica, request.term);
  RequireTermOnDisk(replica, request.term, "an AppendEntries");
  RecordLeader(replica, request.term);
  std::uint64_t index = request.prev_log_index;
  std::uint64_t prev_term = request.prev_log_term;
  RecordLeaderEntry(replica, request.term, index, prev_term, std::nullopt);
  for (const LogEntry& entry : request.entries) {
    ++index;
    // In this order: a leader that replaces its own entry breaks leader append-only first. Log
    // matching breaks as a consequence, and the first violation names the root cause.
    replicas_[Index(replica)].held.Hold(index, entry.term, DigestOf(entry.command));
    RecordLeaderEntry(replica, request.term, index, entry.term, DigestOf(entry.command));
    Entry& seen = RecordEntry(index, entry, prev_term, replica);
    if (durability_->CountsMemory()) seen.holders.received |= Bit(replica);
    prev_term = entry.term;
  }
}

RaftChecker::Entry& RaftChecker::RecordEntry(std::uint64_t index, const LogEntry& entry,
                                             std::uint64_t prev_term, PeerId shown_by) {
  const CommandDigest command = DigestOf(entry.command);
  const auto [known, is_first] =
      entries_.emplace(std::pair{index, entry.term}, Entry{command, prev_term, {}});
  Entry& first = known->second;
  if (!is_first && (first.command != command || first.prev_term != prev_term)) {
    Violate(Invariant::kLogMatching, Name(shown_by) + " has another " +
                                         (first.command != command ? "command" : "predecessor") +
                                         " at " + At(index, entry.term) +
                                         " than an earlier replica");
  }
  return first;
}

void RaftChecker::RecordLeaderEntry(PeerId leader, std::uint64_t term, std::uint64_t index,
                                    std::uint64_t entry_term,
                                    const std::optional<CommandDigest>& command) {
  if (index == 0) return;
  Shown& shown = leader_logs_[term].emplace(index, Shown{entry_term, command}).first->second;
  if (!shown.command) shown.command = command;
  if (shown.term != entry_term || (command && shown.command != command)) {
    Violate(Invariant::kLeaderAppendOnly, Name(leader) + " leads term " + std::to_string(term) +
                                              " and replaces its own entry at index " +
                                              std::to_string(index));
  }
  if (index >= committed().size()) return;
  const Committed& first = committed()[index];
  if (term > first.by_term && entry_term != first.term) {
    Violate(Invariant::kLeaderCompleteness, Name(leader) + " leads term " + std::to_string(term) +
                                                " without the committed " + At(index, first.term));
  }
}

void RaftChecker::OnAppendReply(PeerId replica, const Request& asked,
                                const AppendEntriesReply& reply) {
  elections_.OnMessage(replica, reply.term, /*campaigns=*/false, reply.success);
  RequireTermOnDisk(replica, reply.term, "an AppendEntries reply", reply.success);
  const Claims& claims = replicas_[Index(replica)].claims;
  if (reply.success && claims.term == reply.term && claims.role != Role::kFollower) {
    Violate(Invariant::kLeaderIsKept, Name(replica) + " takes entries of the leader of term " +
                                          std::to_string(reply.term) + " and is no follower");
  }
  if (!reply.success || !disk_required_) return;
  const Disk& disk = replicas_[Index(replica)].disk;
  if (reply.match_index > disk.last_index()) {
    Violate(Invariant::kDurability,
            Name(replica) + " acknowledges index " + std::to_string(reply.match_index) +
                " while its disk ends at index " + std::to_string(disk.last_index()));
    return;
  }
  const auto& leader_log = leader_logs_[asked.term];
  const auto leaders = leader_log.find(reply.match_index);
  // Entries that a snapshot has replaced were committed, so there is nothing to compare. They may
  // still stand in the log: a crash came before the one that continues the snapshot.
  const bool replaced =
      reply.match_index <= disk.snapshot_index || !disk.wal.log.Knows(reply.match_index);
  if (leaders == leader_log.end() || replaced) return;
  const std::uint64_t on_disk = disk.wal.log.TermAt(reply.match_index);
  if (on_disk != leaders->second.term) {
    // With a write on its way the answer is early (rule 4). Otherwise the log keeps what differs.
    const bool is_early = group_.disk(replica).queued_operations() > 0;
    Violate(is_early ? Invariant::kDurability : Invariant::kLogMatching,
            Name(replica) + " acknowledges " + At(reply.match_index, leaders->second.term) +
                " while its disk has term " + std::to_string(on_disk) + " there" +
                (is_early ? ", and a write is under way" : ""));
  }
}

}  // namespace depfast::raft

// SaucrChecker: the reading of frames, as they arrive and as they leave.
#include <algorithm>
#include <bit>
#include <string>

#include "depfast/host/frame.h"
#include "frame_bodies.h"
#include "saucr_checker.h"

namespace depfast::saucr {
namespace {

EntryId LastOf(const AppendEntries& request) {
  if (request.entries.empty()) return request.prev;
  return {request.entries.back().term, request.prev.index + request.entries.size()};
}

// Takes the larger value of each replica, in lives and in maps.
template <typename Values>
void Raise(Values& ours, const Values& told) {
  if (ours.size() < told.size()) ours.resize(told.size());
  for (std::size_t i = 0; i < told.size(); ++i) ours[i] = std::max(ours[i], told[i]);
}

}  // namespace

// ---- as they arrive ----

void SaucrChecker::OnReceived(PeerId replica, const sim::FrameArrival& arrival) {
  std::string error;
  const auto frame = DecodeFrame(*arrival.bytes, error);
  if (!frame) return;
  if (frame->header.kind == FrameKind::kRequest) OnRequest(replica, arrival.from, *frame);
  if (frame->header.kind != FrameKind::kReply || arrival.from >= kFirstClient) return;
  OnAnswered(replica, arrival.from, *frame);
}

// A test may send messages on behalf of a replica, so the sender does not matter.
void SaucrChecker::OnRequest(PeerId replica, PeerId from, const DecodedFrame& frame) {
  const auto remember = [&](Asked asked) {
    Of(replica).asked[{from, frame.header.call}] = std::move(asked);
  };
  VisitBody<RequestVote>(frame, [&](const RequestVote& body) {
    remember({.term = body.term,
              .vote_request = body,
              .vote = elections_.OnAsked(replica, {body.term, body.pre_vote}),
              .voters_floor = FloorOf(replica)});
  });
  VisitBody<AppendEntries>(frame, [&](const AppendEntries& body) {
    HearLeader(replica, body.term, body.beat);
    if (from >= kFirstClient) RecordEntries(replica, body);
    Hold(replica, body.prev, body.entries);
    remember({.term = body.term,
              .last = LastOf(body),
              .mode = body.mode,
              .beat = body.beat,
              .map = body.map,
              .on_disk = Of(replica).disk.wal().markers.latest_on_disk});
  });
  VisitBody<InstallSnapshot>(frame, [&](const InstallSnapshot& body) {
    HearLeader(replica, body.term, /*brings_nothing=*/false);
    const bool is_needed = body.last_index > claims(replica).commit_index;
    Of(replica).held.HoldPart(body.last_index, body.offset, body.data.size(), body.total_bytes);
    remember({.term = body.term,
              .last = {body.last_term, body.last_index},
              .snapshot_bytes = is_needed ? body.total_bytes : 0});
  });
  VisitBody<LleQuery>(frame, [&](const LleQuery& body) { remember({.life = body.life}); });
  VisitBody<FetchLog>(frame, [&](const FetchLog& body) {
    HearLeader(replica, body.term, /*brings_nothing=*/true);
    remember({.term = body.term});
  });
}

void SaucrChecker::HearLeader(PeerId replica, std::uint64_t term, bool brings_nothing) {
  Replica& state = Of(replica);
  // Before it has its LLE, it takes nothing in.
  if (state.claims.recovery != Recovery::kRecovering) elections_.OnLeaderMessage(replica, term);
  const bool may_replace = !brings_nothing && term > state.acked.term;
  if (may_replace && !IsCommitted(state.acked)) state.acked = {};
}

void SaucrChecker::OnAnswered(PeerId replica, PeerId from, const DecodedFrame& frame) {
  Replica& state = Of(replica);
  VisitReply<RequestVote>(frame, [&](const auto& body) {
    elections_.OnVoteAnswered(replica, from, frame.header.call, body.term, body.granted);
  });
  VisitReply<AppendEntries>(
      frame, [&](const auto& body) { OnAck(replica, from, frame.header.call, body); });
  VisitReply<LleQuery>(frame, [&](const LleReply& body) {
    const bool is_whole = body.map.size() == replicas_.size();
    // An answer that comes later may say more, and is not asked for.
    const bool is_late = state.claims.recovery == Recovery::kRecovered;
    if (!body.recovered || !is_whole || is_late) return;
    state.lle_answers.try_emplace(from, body);  // an earlier one counts, too
    NoteLogEnd(state, replica, state.disk.last());
  });
  VisitReply<FetchLog>(frame, [&](const FetchLogReply& body) {
    if (body.is_whole && body.term == state.leading.term) state.leading.whole.insert(from);
    HoldFetched(replica, from, frame.header.call, body);
  });
}

void SaucrChecker::Hold(PeerId replica, EntryId prev, const std::vector<LogEntry>& entries) {
  for (EntryIndex index = prev.index; const LogEntry& entry : entries) {
    Of(replica).held.Hold(++index, entry.term, DigestOf(entry.command));
  }
}

void SaucrChecker::HoldFetched(PeerId replica, PeerId from, CallId call,
                               const FetchLogReply& reply) {
  Hold(replica, reply.base, reply.entries);
  const auto offset = Of(replica).fetches.extract({from, call});
  if (offset.empty() || reply.state_bytes == 0) return;
  Of(replica).held.HoldPart(reply.base.index, offset.mapped(), reply.state.size(),
                            reply.state_bytes);
}

void SaucrChecker::OnAck(PeerId leader, PeerId from, CallId call, const AppendEntriesReply& reply) {
  Leading& leading = Of(leader).leading;
  if (reply.term != leading.term) return;
  if (leading.beat.calls.contains({from, call})) leading.beat.answered |= Bit(from);
  Ack& ack = leading.acks[static_cast<std::size_t>(from)];
  Raise(ack.lives, reply.lives);
  if (!reply.success) return;
  ack.durable = std::max(ack.durable, reply.durable);
  if (reply.life < ack.life) return;
  ack.buffered = reply.life > ack.life ? reply.match : std::max(ack.buffered, reply.match);
  ack.life = reply.life;
}

// ---- requests, as they leave ----

void SaucrChecker::OnSent(PeerId replica, const sim::SendFrame& sent) {
  std::string error;
  const auto frame = DecodeFrame(*sent.bytes, error);
  if (!frame) return;
  if (frame->header.kind == FrameKind::kRequest) return OnSentRequest(replica, sent.to, *frame);
  const auto asked = Of(replica).asked.extract({sent.to, frame->header.call});
  if (frame->header.kind == FrameKind::kReply && !asked.empty()) {
    OnSentReply(replica, sent.to, asked.mapped(), *frame);
  }
}

void SaucrChecker::OnSentRequest(PeerId replica, PeerId to, const DecodedFrame& frame) {
  const CallId call = frame.header.call;
  VisitBody<RequestVote>(frame,
                         [&](const auto& body) { OnSentVoteRequest(replica, to, call, body); });
  VisitBody<AppendEntries>(frame, [&](const auto& body) { OnSentAppend(replica, to, call, body); });
  VisitBody<InstallSnapshot>(frame, [&](const InstallSnapshot& body) {
    OnLeads(replica, body.term, "an InstallSnapshot");
    const EntryId last{body.last_term, body.last_index};
    Require(IsCommitted(last), Invariant::kStateMachineSafety, replica,
            "sends a snapshot that ends at " + At(last) + ", which is not committed");
  });
  VisitBody<FetchLog>(frame, [&](const FetchLog& body) {
    OnLeads(replica, body.term, "a FetchLog");
    if (body.first > 0) Of(replica).fetches[{to, call}] = body.offset;
  });
  VisitBody<LleQuery>(frame, [&](const LleQuery& body) {
    const Replica& state = Of(replica);
    const Life found = In(state.lives_found, replica);
    CheckLives(replica, body.lives, "a question about its LLE");
    Require(body.life > found && state.disk.LifeOf(replica) >= body.life, Invariant::kLivesOnDisk,
            replica,
            "asks for its LLE in life " + std::to_string(body.life) + "; it has found life " +
                std::to_string(found) + " on its disk, which says " +
                std::to_string(state.disk.LifeOf(replica)) + " now");
  });
}

void SaucrChecker::OnSentVoteRequest(PeerId replica, PeerId to, CallId call,
                                     const RequestVote& request) {
  RequireNotRecovering(replica, "campaigns");
  const EntryId floor = FloorOf(replica);
  Require(request.lle >= floor, Invariant::kLle, replica,
          "campaigns with the LLE " + At(request.lle) + "; it has had " + At(floor));
  if (!request.pre_vote) OnFrameTerm(replica, request.term, "a RequestVote", /*campaigns=*/true);
  elections_.OnSentVoteRequest(replica, to, call, {request.term, request.pre_vote});
}

void SaucrChecker::OnLeads(PeerId replica, std::uint64_t term, const char* message) {
  OnFrameTerm(replica, term, message);
  RecordLeader(replica, term);
  Leading& leading = Of(replica).leading;
  if (leading.term != term) leading = {term, std::vector<Ack>(replicas_.size()), {}, {}};
}

void SaucrChecker::OnFrameTerm(PeerId replica, std::uint64_t term, const char* message,
                               bool campaigns) {
  Replica& state = Of(replica);
  elections_.OnMessage(replica, term, campaigns);
  const std::uint64_t on_disk = state.disk.wal().hard_state.term;
  Require(on_disk >= term || state.disk.is_damaged(), Invariant::kTermOnDisk, replica,
          "sends " + std::string(message) + " of term " + std::to_string(term) +
              " while its disk says term " + std::to_string(on_disk));
}

void SaucrChecker::OnSentAppend(PeerId replica, PeerId to, CallId call,
                                const AppendEntries& request) {
  OnLeads(replica, request.term, "an AppendEntries");
  CheckMap(replica, request.map, "an AppendEntries");
  CheckLives(replica, request.lives, "an AppendEntries");
  Beat& beat = Of(replica).leading.beat;
  if (request.beat) OnBeat(beat, to, call);
  // With other machines, reads send beats between the beats.
  Require(request.mode == Mode::kSlow || beat.may_be_fast || machine_ != Machine::kTally,
          Invariant::kModes, replica,
          "sends a message in fast mode, and its latest beats allow slow mode alone");
  OnShownMode(replica, request.mode);
  if (request.beat) return;
  RecordEntries(replica, request);
  Hold(replica, request.prev, request.entries);
  const auto self = static_cast<std::size_t>(replica);
  if (request.entries.empty() || request.map.size() != replicas_.size()) return;
  if (request.map[self] == LastOf(request)) rounds_[LastOf(request)] |= Bit(to);
}

// Its first message to a second replica belongs to the same beat; that to the same one does not.
void SaucrChecker::OnBeat(Beat& beat, PeerId to, CallId call) {
  const bool continues =
      std::ranges::none_of(beat.calls, [to](const auto& each) { return each.first == to; });
  if (!continues || beat.calls.empty()) {
    const bool is_prompt = 1 + std::popcount(beat.answered) >= quorums_.fast();
    beat.prompt = is_prompt ? beat.prompt + 1 : 0;
    if (!is_prompt) beat.may_be_fast = false;
    if (beat.prompt >= kPromptBeats) beat.may_be_fast = true;
    beat.calls.clear();
    beat.answered = 0;
  }
  beat.calls.insert({to, call});
}

void SaucrChecker::RecordEntries(PeerId shown_by, const AppendEntries& request) {
  const auto leader = static_cast<std::size_t>(request.leader);
  EntryId prev = request.prev;
  RecordLeaderEntry(request.leader, request.term, prev);
  for (const LogEntry& entry : request.entries) {
    const EntryId id{entry.term, prev.index + 1};
    // In this order: of an entry that a leader has replaced, log matching is a consequence.
    RecordLeaderEntry(request.leader, request.term, id);
    RecordEntry(shown_by, id, entry, prev.term);
    auto& named = entries_[id].named;
    const bool in_round =
        id.term == request.term && leader < request.map.size() && request.map[leader] >= id;
    if (in_round && !named) {
      named = 0;
      for (PeerId peer = 0; peer < static_cast<PeerId>(request.map.size()); ++peer) {
        if (request.map[static_cast<std::size_t>(peer)] >= id) *named |= Bit(peer);
      }
    }
    if (id.term == request.term && prev.term != id.term && shown_by == request.leader) {
      Require(prev >= FloorOf(shown_by), Invariant::kDataFirst, shown_by,
              "opens term " + std::to_string(id.term) + " behind " + At(prev) +
                  ", before it has its data: its LLE is " + At(FloorOf(shown_by)));
    }
    prev = id;
  }
}

void SaucrChecker::RecordEntry(PeerId shown_by, EntryId id, const LogEntry& entry,
                               std::uint64_t prev_term) {
  const CommandDigest command = DigestOf(entry.command);
  const auto [known, is_first] = entries_.emplace(id, Entry{command, prev_term, std::nullopt});
  const Entry& first = known->second;
  Require(is_first || (first.command == command && first.prev_term == prev_term),
          Invariant::kLogMatching, shown_by,
          std::string("has another ") + (first.command != command ? "command" : "predecessor") +
              " at " + At(id) + " than an earlier replica");
}

void SaucrChecker::RecordLeaderEntry(PeerId leader, std::uint64_t term, EntryId id) {
  if (id.index == 0) return;
  const std::uint64_t shown = leader_logs_[term].emplace(id.index, id.term).first->second;
  Require(shown == id.term, Invariant::kLeaderAppendOnly, leader,
          "leads term " + std::to_string(term) + " and replaces its own entry at index " +
              std::to_string(id.index));
  if (id.index >= committed().size()) return;
  const Committed& first = committed()[id.index];
  Require(term <= first.by_term || id.term == first.term, Invariant::kLeaderCompleteness, leader,
          "leads term " + std::to_string(term) + " without the committed " +
              At(EntryId{first.term, id.index}));
}

void SaucrChecker::CheckNaming(PeerId leader, EntryId last, std::uint64_t recipients) {
  const std::uint64_t named = entries_[last].named.value_or(0);
  const bool is_first = named != 0 && elections_.LeaderOf(last.term) == leader;
  if (!is_first || !named_rounds_.insert(last).second) return;
  Require((named & ~recipients & ~Bit(leader)) == 0, Invariant::kNaming, leader,
          "names a replica with " + At(last) + " to which it does not send that round");
}

// ---- replies, as they leave ----

void SaucrChecker::OnSentReply(PeerId replica, PeerId to, const Asked& asked,
                               const DecodedFrame& frame) {
  VisitReply<RequestVote>(frame, [&](const auto& body) { OnVoteReply(replica, asked, body); });
  VisitReply<AppendEntries>(frame, [&](const auto& body) { OnAppendReply(replica, asked, body); });
  VisitReply<LleQuery>(frame, [&](const auto& body) { OnLleReply(replica, to, asked, body); });
  VisitReply<FetchLog>(frame, [&](const FetchLogReply& body) {
    RequireNotRecovering(replica, "answers a FetchLog");
    OnFrameTerm(replica, body.term, "a FetchLog reply");
  });
  VisitReply<InstallSnapshot>(frame,
                              [&](const auto& body) { OnInstallReply(replica, asked, body); });
}

void SaucrChecker::RequireNotRecovering(PeerId replica, const std::string& what) {
  const Replica& state = Of(replica);
  Require(!IsRecovering(state), Invariant::kSilent, replica,
          what + " with " + std::to_string(state.lle_answers.size()) + " of " +
              std::to_string(quorums_.minority()) + " answers about its LLE");
}

void SaucrChecker::OnVoteReply(PeerId replica, const Asked& asked, const RequestVoteReply& reply) {
  OnFrameTerm(replica, reply.term, "a RequestVote reply");
  elections_.OnVoteReply(replica, asked.vote, reply.granted);
  if (!reply.granted) return;
  RequireNotRecovering(replica, "grants a vote");
  const RequestVote& request = asked.vote_request;
  if (request.pre_vote) return;
  CheckMap(replica, reply.map, "a vote");
  const SaucrDisk& disk = Of(replica).disk;
  const HardState& on_disk = disk.wal().hard_state;
  const bool is_there = on_disk.term > asked.term ||
                        (on_disk.term == asked.term && on_disk.voted_for == request.candidate);
  Require(is_there || disk.is_damaged(), Invariant::kTermOnDisk, replica,
          "grants its vote of term " + std::to_string(asked.term) + " to " +
              Name(request.candidate) + " before that is on its disk");
  // Acknowledgements since it was asked do not count.
  const EntryId floor = std::min(asked.voters_floor, FloorOf(replica));
  Require(request.lle >= floor, Invariant::kLle, replica,
          "votes for " + Name(request.candidate) + ", whose LLE is " + At(request.lle) +
              "; its own is " + At(floor) + " at least");
  elections_.OnVote(replica, asked.term, request.candidate, now_);
}

void SaucrChecker::OnAppendReply(PeerId replica, const Asked& asked,
                                 const AppendEntriesReply& reply) {
  OnFrameTerm(replica, reply.term, "an AppendEntries reply");
  CheckLives(replica, reply.lives, "an AppendEntries reply");
  if (!reply.success) return;
  RequireNotRecovering(replica, "acknowledges");
  Replica& state = Of(replica);
  Require(state.disk.LifeOf(replica) >= reply.life || state.disk.is_damaged(),
          Invariant::kLivesOnDisk, replica,
          "names its life " + std::to_string(reply.life) + " before that is on its disk");
  if (asked.beat || reply.match == 0) return;
  CheckDurable(replica, asked, reply);
  if (asked.map.size() == replicas_.size()) Raise(state.told, asked.map);
  const auto& log = leader_logs_[asked.term];
  const auto last = log.find(reply.match);
  // R3 counts nothing before an entry of the leader's term.
  if (last == log.end() || last->second != asked.term) return;
  state.acked = std::max(state.acked, EntryId{last->second, reply.match});
  NoteLogEnd(state, replica, state.acked);
  Require(
      !state.disk.SaysAllIsThere() || state.disk.last() >= state.acked || state.disk.is_damaged(),
      asked.mode == Mode::kFast ? Invariant::kMarked : Invariant::kPersisted, replica,
      "acknowledges " + At(state.acked) + " while its disk ends at " + At(state.disk.last()) +
          " and says that a crash loses nothing");
}

void SaucrChecker::CheckDurable(PeerId replica, const Asked& asked,
                                const AppendEntriesReply& reply) {
  const SaucrDisk& disk = Of(replica).disk;
  if (disk.is_damaged()) return;
  const EntryIndex durable = asked.mode == Mode::kSlow ? reply.match : reply.durable;
  const auto& log = leader_logs_[asked.term];
  const auto last = log.find(durable);
  const EntryId id{last == log.end() ? 0 : last->second, durable};
  Require(last == log.end() || disk.Has(id), Invariant::kPersisted, replica,
          "says that " + At(id) + " is on its disk, which ends at " + At(disk.last()));
  const LleMap& map = disk.wal().map;
  const bool has_map = asked.mode == Mode::kSlow && parts_ == Parts::kAll;
  // A repeated message may say more of an entry that had its map on the disk before.
  if (!has_map || !disk.SaysAllIsThere() || id <= asked.on_disk) return;
  // The replicas that the entry's own round has named. Later messages may say more of others, and
  // protect no acknowledgement of this entry.
  const auto entry = entries_.find(id);
  if (id.term != asked.term || entry == entries_.end()) return;
  const std::uint64_t named = entry->second.named.value_or(0);
  for (PeerId peer = 0; peer < group_.replicas(); ++peer) {
    const auto i = static_cast<std::size_t>(peer);
    if ((named & Bit(peer)) == 0 || (i < map.size() && map[i] >= id)) continue;
    Violate(Invariant::kPersisted, Name(replica) + " acknowledges " + At(id) +
                                       " in slow mode, and the map on its disk does not name " +
                                       Name(peer) + " with that entry");
    return;
  }
}

void SaucrChecker::OnLleReply(PeerId replica, PeerId to, const Asked& asked,
                              const LleReply& reply) {
  if (!reply.recovered) return;
  RequireNotRecovering(replica, "answers a question about an LLE");
  CheckMap(replica, reply.map, "an answer about an LLE");
  CheckLives(replica, reply.lives, "an answer about an LLE");
  const SaucrDisk& disk = Of(replica).disk;
  if (to >= kFirstClient || disk.is_damaged()) return;
  Require(disk.LifeOf(to) >= asked.life, Invariant::kLivesOnDisk, replica,
          "answers " + Name(to) + " in life " + std::to_string(asked.life) +
              " while its own disk says life " + std::to_string(disk.LifeOf(to)));
}

void SaucrChecker::CheckMap(PeerId replica, const LleMap& map, const char* message) {
  if (map.size() != replicas_.size()) return;
  Replica& state = Of(replica);
  if (state.told.empty()) state.told.resize(map.size());
  for (PeerId of = 0; of < static_cast<PeerId>(map.size()); ++of) {
    const auto index = static_cast<std::size_t>(of);
    const EntryId least = std::max(state.told[index], LearnedOf(state, of));
    if (map[index] >= least) continue;
    Violate(Invariant::kGoForward, Name(replica) + " sends " + message + " whose map names " +
                                       Name(of) + " with " + At(map[index]) + "; it has known " +
                                       At(least));
    return;
  }
  state.told = map;
}

void SaucrChecker::OnInstallReply(PeerId replica, const Asked& asked,
                                  const InstallSnapshotReply& reply) {
  OnFrameTerm(replica, reply.term, "an InstallSnapshot reply");
  if (reply.received == 0) return;
  RequireNotRecovering(replica, "takes a snapshot");
  const SaucrDisk& disk = Of(replica).disk;
  const bool is_all = asked.snapshot_bytes > 0 && reply.received >= asked.snapshot_bytes;
  Require(!is_all || disk.Has(asked.last), Invariant::kPersisted, replica,
          "acknowledges a snapshot that ends at " + At(asked.last) + ", while its disk ends at " +
              At(disk.last()));
}

}  // namespace depfast::saucr

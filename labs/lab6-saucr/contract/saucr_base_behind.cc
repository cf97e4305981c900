// Replicas that are behind: catch-up, snapshots, and the data of a new leader. See saucr_base.cc.
#include <algorithm>
#include <utility>

#include "quorum_event.h"
#include "saucr_base.h"

namespace depfast::saucr {
namespace {

// A follower joins the rounds after an answer to a catch-up request within kCatchUpTarget. The size
// of the next request doubles after an answer, and halves without one. Its timeout doubles without
// one: a follower that is only slow gets the time that it needs.
constexpr Duration kCatchUpTarget = 50ms;
constexpr std::size_t kCatchUpBytesMin = std::size_t{4} << 10;
constexpr std::size_t kCatchUpBytesMax = std::size_t{128} << 10;
constexpr Duration kCatchUpTimeoutMin = kCatchUpTarget;
constexpr Duration kCatchUpTimeoutMax = 1s;

}  // namespace

// ---- followers that are behind ----

void SaucrBase::FallBehind(PeerId peer, EntryIndex from) {
  Follower& follower = followers_.Of(peer);
  follower.next = std::max(std::min(follower.next, from), follower.agreed + 1);
  follower.in_rounds = false;
  ServeIfBehind(peer);
}

void SaucrBase::ServeIfBehind(PeerId peer) {
  Follower& follower = followers_.Of(peer);
  if (!is_open_ || follower.in_rounds || std::exchange(follower.is_served, true)) return;
  follower.is_prompt = false;
  follower.request_bytes = kCatchUpBytesMin;
  follower.request_timeout = kCatchUpTimeoutMin;
  runtime_.Spawn("catch-up", [this, peer] { CatchUp(peer); });
}

void SaucrBase::CatchUp(PeerId peer) {
  runtime_.set_dependency({});  // a background task: no client asked for it
  const std::uint64_t term = term_;
  const Follower& follower = followers_.Of(peer);
  // A follower that answers no beats would answer no request.
  const auto is_in_touch = [&] {
    return runtime_.Now() < follower.answered_at + election_timeout_min_;
  };
  while (Leads(term) && !follower.in_rounds && is_in_touch()) {
    const bool compacted = follower.next <= log_.base_index();
    const bool answered = compacted ? SendSnapshot(peer) : SendEntries(peer);
    if (!answered) runtime_.Sleep(beat_);  // limits retries
  }
  if (Leads(term)) followers_.Of(peer).is_served = false;
}

bool SaucrBase::SendEntries(PeerId peer) {
  const std::uint64_t term = term_;
  Follower& follower = followers_.Of(peer);
  const EntryIndex first = follower.next;
  EntryIndex end = first;
  for (std::size_t size = 0; end <= last_index() && size < follower.request_bytes; ++end) {
    size += RaftLog::SizeOf(log_.At(end));
  }
  if (end > last_index() && follower.is_prompt) {
    // The request reaches the end of the log: rounds may follow it on the same connection.
    follower.in_rounds = true;
    follower.next = end;
    if (first == end) return true;
  }
  const Time sent = runtime_.Now();
  // When its time is over, the request leaves our queue, too.
  const auto call = runtime_.rpc().Call(peer, MakeAppend(first, end), follower.request_timeout);
  const Outcome outcome = call->Wait();
  if (!Leads(term)) return true;
  if (outcome != Outcome::kReady) {
    FallBehind(peer, first);
    follower.is_prompt = false;
    follower.request_bytes = std::max(follower.request_bytes / 2, kCatchUpBytesMin);
    follower.request_timeout = std::min(follower.request_timeout * 2, kCatchUpTimeoutMax);
    return false;
  }
  const bool accepted = NoteReply(peer, call->reply());
  if (accepted) Commit();
  if (!Leads(term)) return true;
  follower.is_prompt = runtime_.Now() - sent < kCatchUpTarget;
  follower.request_bytes = std::min(follower.request_bytes * 2, kCatchUpBytesMax);
  return accepted || follower.next < first;
}

bool SaucrBase::SendSnapshot(PeerId peer) {
  const std::uint64_t term = term_;
  const Snapshot snapshot = snapshot_;  // a newer one may replace snapshot_ meanwhile
  std::uint64_t received = 0;
  do {
    const auto call =
        runtime_.rpc().Call(peer,
                            InstallSnapshot{term, runtime_.self(), snapshot.last_index,
                                            snapshot.last_term, snapshot.state.size(), received,
                                            snapshot.state.substr(received, kChunkBytes)},
                            kCatchUpTimeoutMax);
    if (call->Wait() != Outcome::kReady || !Leads(term)) return false;
    if (call->reply().term > term_) BecomeFollower(call->reply().term);
    received = call->reply().received;
    if (!Leads(term) || received > snapshot.state.size()) return false;  // a nonsensical answer
    followers_.Of(peer).answered_at = runtime_.Now();
  } while (received < snapshot.state.size());
  followers_.HasUpTo(peer, snapshot.last_index);
  return true;
}

// ---- snapshots ----

InstallSnapshotReply SaucrBase::OnInstallSnapshot(const InstallSnapshot& request) {
  std::uint64_t received = 0;
  if (request.term >= term_) {
    HearLeader(request.term, request.leader);
    received = TakePart({request.last_term, request.last_index}, request.total_bytes,
                        request.offset, request.data);
    journal_.Sync()->Wait();
  }
  AwaitTerm();
  return {term_, term_ == request.term ? received : 0};
}

std::uint64_t SaucrBase::TakePart(EntryId last, std::uint64_t total_bytes, std::uint64_t offset,
                                  const std::string& data) {
  if (last.index <= commit_index_) return total_bytes;
  if (EntryId{incoming_.last_term, incoming_.last_index} != last) {
    incoming_ = {last.index, last.term, ""};
  }
  if (offset == incoming_.state.size()) incoming_.state += data;
  const std::uint64_t received = incoming_.state.size();
  if (received == total_bytes) InstallIncoming();
  return received;
}

void SaucrBase::InstallIncoming() {
  snapshot_ = std::exchange(incoming_, {});
  const EntryId last_of_state{snapshot_.last_term, snapshot_.last_index};
  // The entries behind the snapshot stay only if our log agrees with the snapshot.
  if (log_.Knows(last_of_state.index) && IdAt(last_of_state.index) == last_of_state) {
    log_.CompactUpTo(last_of_state.index);
  } else {
    log_.Reset(last_of_state.index, last_of_state.term);
    journal_.ForgetFrom(1);
  }
  RestoreSnapshot();
  journal_.Replace(snapshot_, log_);
  if (is_whole()) recovered_ = {};
}

void SaucrBase::RestoreSnapshot() {
  machine_.Restore(snapshot_.state);
  commit_index_ = agreed_ = snapshot_.last_index;
  ObserveRestore(runtime_, snapshot_.last_index, snapshot_.last_term);
  ObserveCommit(runtime_, commit_index_);
}

// Bounds and reasons are lab 2's (raft_messages.h).
void SaucrBase::CompactIfLarge() {
  if (log_.bytes() <= compact_above_) return;
  EntryIndex base = last_index();
  std::size_t stays = 0;
  while (base > log_.base_index() && (base > commit_index_ || stays < raft::kRetainedBytes)) {
    stays += RaftLog::SizeOf(log_.At(base--));
  }
  // The entries that stay are written again. Behind a long tail of uncommitted entries that would
  // cost much and free little, time after time.
  if (stays > log_.bytes() / 3 * 2) return;
  snapshot_ = {commit_index_, log_.TermAt(commit_index_), machine_.Snapshot()};
  log_.CompactUpTo(base);
  journal_.Replace(snapshot_, log_);
  ChooseWhenToCompact();
}

// If all replicas compacted at the same moment, all disks would be busy.
void SaucrBase::ChooseWhenToCompact() {
  const auto most = static_cast<std::int64_t>(raft::CompactAboveBytes(snapshot_.state.size()));
  compact_above_ = static_cast<std::size_t>(runtime_.RandomBetween(most / 2, most));
}

// ---- a leader's data ----

FetchLogReply SaucrBase::OnFetchLog(const FetchLog& request) {
  FetchLogReply reply;
  if (request.term >= term_) {
    HearLeader(request.term, request.leader);
    reply.last = last();
    reply.is_whole = is_whole();
    if (request.first > 0) AddData(request, reply);
  }
  AwaitTerm();  // so this replica takes part in no older term (R29)
  reply.term = term_;
  return reply;
}

void SaucrBase::AddData(const FetchLog& request, FetchLogReply& reply) const {
  const EntryIndex first = std::min(request.first, last_index() + 1);
  if (first <= log_.base_index()) {
    reply.base = {snapshot_.last_term, snapshot_.last_index};
    reply.state_bytes = snapshot_.state.size();
    if (request.offset <= reply.state_bytes) {
      reply.state = snapshot_.state.substr(request.offset, kChunkBytes);
    }
    return;
  }
  EntryIndex end = first;
  for (std::size_t size = 0; end <= last_index() && size < kChunkBytes; ++end) {
    size += RaftLog::SizeOf(log_.At(end));
  }
  reply.base = IdAt(first - 1);
  reply.entries = log_.Slice(first, end);
}

Broadcast<FetchLog> SaucrBase::AskForLogs() {
  Broadcast<FetchLog> calls(runtime_.rpc(), runtime_.peers(), {term_, runtime_.self(), 0, 0},
                            election_timeout_max_);
  const auto terms = std::make_shared<QuorumEvent>(1, static_cast<int>(calls.size()));
  for (const auto& call : calls.calls()) {
    terms->Add(call, [this, &answered = *call] {
      if (answered.reply().term > term_) BecomeFollower(answered.reply().term);
      return true;
    });
  }
  runtime_.Spawn("answers", [this, calls, terms] { runtime_.Sleep(election_timeout_max_); });
  return calls;
}

bool SaucrBase::AdoptLog(PeerId from) {
  const std::uint64_t term = term_;
  std::optional<FetchLog> next = FetchLog{term, runtime_.self(), last_index() + 1, 0};
  while (next) {
    const auto call = runtime_.rpc().Call(from, *next, election_timeout_max_);
    const Outcome outcome = call->Wait();
    if (!Leads(term) || outcome != Outcome::kReady) return false;
    const FetchLogReply& reply = call->reply();
    if (reply.term > term_) BecomeFollower(reply.term);
    if (!Leads(term)) return false;
    next = TakeData(*next, reply);
    if (last() >= reply.last) return true;
  }
  return false;
}

std::optional<FetchLog> SaucrBase::TakeData(const FetchLog& request, const FetchLogReply& reply) {
  FetchLog next{request.term, request.leader, request.first, 0};
  if (reply.state_bytes > 0) {
    next.offset = TakePart(reply.base, reply.state_bytes, request.offset, reply.state);
    if (next.offset == reply.state_bytes)
      next = {request.term, request.leader, commit_index_ + 1, 0};
    return next;
  }
  if (log_.Knows(reply.base.index) && IdAt(reply.base.index) == reply.base) {
    AppendFrom(reply.base.index + 1, reply.entries);
    next.first = reply.base.index + reply.entries.size() + 1;
    return next;
  }
  // The logs differ before that entry. They share all that is committed.
  next.first = commit_index_ + 1;
  return request.first > next.first ? std::optional(next) : std::nullopt;
}

}  // namespace depfast::saucr

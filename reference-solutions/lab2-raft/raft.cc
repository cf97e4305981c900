#include "raft.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <span>
#include <stdexcept>
#include <utility>

#include "depfast/compound_event.h"
#include "quorum_event.h"

namespace depfast::raft {
namespace {

// Rounds under way at once: enough to keep disk and network busy, few enough that commands gather
// into batches when there are many.
constexpr int kRoundsMax = 4;
constexpr std::size_t kRoundBytesMax = 256 * 1024;

// A follower that has not answered a round after this long is no longer broadcast to.
constexpr Duration kStragglerGrace = 100ms;
// Nor is one for which more than this waits in our memory.
constexpr std::size_t kHeldBytesMax = 64 * 1024;

// A catch-up request is sized so that its answer takes about kCatchUpTarget.
constexpr std::size_t kCatchUpBytesMin = 4 * 1024;
constexpr std::size_t kCatchUpBytesMax = 128 * 1024;
constexpr Duration kCatchUpTarget = 50ms;
// It is given up after a while that doubles each time, so that a lost message costs little and a
// follower that is merely slow gets the time it needs.
constexpr Duration kCatchUpTimeoutMin = 100ms;
constexpr Duration kCatchUpTimeoutMax = 1s;

std::size_t SizeOf(const LogEntry& entry) { return entry.command.size() + sizeof(LogEntry); }

}  // namespace

Raft::Raft(Runtime& runtime)
    : runtime_(runtime),
      recovered_(std::make_shared<IntEvent>("recovery", 1)),
      log_(1),
      followers_(static_cast<std::size_t>(runtime.replicas())) {}

void Raft::Start() {
  runtime_.rpc().Handle<RequestVote>([this](PeerId, const RequestVote& request) {
    recovered_->Wait();
    return OnRequestVote(request);
  });
  runtime_.rpc().Handle<AppendEntries>([this](PeerId, const AppendEntries& request) {
    recovered_->Wait();
    return OnAppendEntries(request);
  });
  runtime_.Spawn("election", [this] {
    Recover();
    ElectionLoop();
  });
}

// ---- start and durability ----

void Raft::Recover() {
  const auto read = runtime_.storage().Read(kWalFile);
  if (read->Wait() == Outcome::kReady) {
    WalState state;
    const std::size_t good = state.Read(read->data());
    if (good < read->data().size()) {
      last_write_ = runtime_.storage().Truncate(kWalFile, good);  // a write torn by the crash
    }
    term_ = state.hard_state.term;
    voted_for_ = state.hard_state.voted_for;
    std::move(state.entries.begin(), state.entries.end(), std::back_inserter(log_));
  } else if (read->error() != ENOENT) {
    throw std::runtime_error("cannot read the write-ahead log: error " +
                             std::to_string(read->error()));
  }
  ObserveRole(runtime_, term_, role_);
  last_heard_ = runtime_.Now();
  recovered_->Add();
}

void Raft::PersistHardState() {
  last_write_ = runtime_.storage().Append(kWalFile, EncodeHardState({term_, voted_for_}),
                                          Storage::Sync::kYes);
}

std::shared_ptr<DiskEvent> Raft::PersistEntries(std::uint64_t first_index) {
  const auto entries = std::span(log_).subspan(first_index);
  last_write_ =
      runtime_.storage().Append(kWalFile, EncodeEntries(first_index, entries), Storage::Sync::kYes);
  return last_write_;
}

bool Raft::AwaitDurable() {
  std::uint64_t term = 0;
  do {  // a new term that was learned while we waited is on its way to disk, but not there
    term = term_;
    const auto write = last_write_;
    if (write != nullptr && write->Wait() != Outcome::kReady) return false;
  } while (term != term_);
  return true;
}

// ---- elections ----

void Raft::ElectionLoop() {
  for (;;) {
    const Duration patience = runtime_.RandomBetween(kElectionTimeoutMin, kElectionTimeoutMax);
    while (role_ == Role::kLeader || runtime_.Now() < last_heard_ + patience) {
      const Time from = role_ == Role::kLeader ? runtime_.Now() : last_heard_;
      runtime_.Sleep(from + patience - runtime_.Now());
    }
    last_heard_ = runtime_.Now();  // the next campaign is a full timeout away
    Campaign();
  }
}

void Raft::Campaign() {
  // Whoever campaigns knows of no leader. If it went on naming the old one, replicas that campaign
  // would refuse each other's pre-votes, and a bare majority could do so for ever.
  leader_ = kNobody;
  // Without the pre-vote a replica that was merely slow would depose a healthy leader.
  if (!AskForVotes(term_ + 1, /*pre_vote=*/true)) return;
  const std::uint64_t term = ++term_;
  role_ = Role::kCandidate;
  voted_for_ = runtime_.self();
  ObserveRole(runtime_, term_, role_);
  PersistHardState();
  if (!AwaitDurable() || term_ != term) return;  // a newer term may have come meanwhile
  if (AskForVotes(term, /*pre_vote=*/false) && role_ == Role::kCandidate) BecomeLeader();
}

bool Raft::AskForVotes(std::uint64_t term, bool pre_vote) {
  const std::uint64_t current = term_;
  const RequestVote request{term, runtime_.self(), last_index(), TermAt(last_index()), pre_vote};
  Broadcast<RequestVote> broadcast(runtime_.rpc(), runtime_.peers(), request);
  const auto quorum = QuorumEvent::Majority(runtime_.replicas());
  for (const auto& call : broadcast.calls()) {
    quorum->Add(call, [this, &answered = *call] {
      if (answered.reply().term > term_) BecomeFollower(answered.reply().term);
      return answered.reply().granted;
    });
  }
  quorum->VoteYes(runtime_.replicas() - 1);  // the last voter is ourselves
  quorum->Wait(kElectionTimeoutMin);
  broadcast.Release();
  return quorum->Ready() && term_ == current;
}

RequestVoteReply Raft::OnRequestVote(const RequestVote& request) {
  if (request.pre_vote) {
    const bool leader_lives =
        role_ == Role::kLeader ||
        (leader_ != kNobody && runtime_.Now() < last_heard_ + kElectionTimeoutMin);
    const bool granted = request.term > term_ && !leader_lives && WouldVoteFor(request);
    const bool durable = AwaitDurable();
    return {term_, granted && durable};
  }
  if (request.term > term_) BecomeFollower(request.term);
  const bool free_to_vote = voted_for_ == kNobody || voted_for_ == request.candidate;
  const bool granted = request.term == term_ && free_to_vote && WouldVoteFor(request);
  if (granted) {
    voted_for_ = request.candidate;
    last_heard_ = runtime_.Now();
    PersistHardState();
  }
  const std::uint64_t term = term_;
  const bool durable = AwaitDurable();
  return {term_, granted && durable && term_ == term};
}

bool Raft::WouldVoteFor(const RequestVote& request) const {
  // The election restriction: its log must be at least as up to date as ours (section 5.4.1).
  const std::uint64_t our_term = TermAt(last_index());
  return request.last_log_term > our_term ||
         (request.last_log_term == our_term && request.last_log_index >= last_index());
}

void Raft::BecomeFollower(std::uint64_t term) {
  if (term > term_) {
    term_ = term;
    voted_for_ = kNobody;
    leader_ = kNobody;
    PersistHardState();
  }
  if (role_ == Role::kLeader) leader_ = kNobody;  // not we, any more
  role_ = Role::kFollower;
  ObserveRole(runtime_, term_, role_);
  FailWaiting(SubmitStatus::kUnknown);
}

void Raft::BecomeLeader() {
  role_ = Role::kLeader;
  leader_ = runtime_.self();
  ObserveRole(runtime_, term_, role_);
  for (Follower& follower : followers_) follower = Follower{.next_index = last_index() + 1};
  durable_index_ = last_index();  // we have waited for our own vote, which was written later
  last_quorum_ = runtime_.Now();
  // An entry of our own term, even an empty one, lets us commit what earlier terms left
  // (section 5.4.2).
  pending_.push_back({"", std::nullopt});
  StartRound();
  runtime_.Spawn("heartbeat", [this] { HeartbeatLoop(); });
}

// ---- replication, the leader's side ----

void Raft::Submit(const std::string& command, const Responder<SubmitReply>& responder) {
  if (role_ != Role::kLeader || command.empty()) {
    responder.Send({SubmitStatus::kNotLeader, leader_, 0});
    return;
  }
  pending_.push_back({command, responder});
  StartRound();
}

void Raft::StartRound() {
  if (pending_.empty() || round_starting_ || rounds_ >= kRoundsMax) return;
  // The coroutine runs after all that has arrived with this step: one round for all of it.
  round_starting_ = true;
  runtime_.Spawn("replicate", [this] { Round(); });
}

void Raft::Round() {
  round_starting_ = false;
  if (role_ != Role::kLeader || pending_.empty()) return;
  const std::uint64_t term = term_;
  const std::uint64_t first = last_index() + 1;
  AppendPending();
  const std::uint64_t end = last_index() + 1;
  const auto own_write = PersistEntries(first);

  std::vector<PeerId> peers;
  for (PeerId peer : runtime_.peers()) {
    if (!FollowerOf(peer).keeps_up) continue;
    if (runtime_.HeldBytes(peer) > kHeldBytesMax) {
      Lag(peer, first);
    } else {
      FollowerOf(peer).next_index = end;
      peers.push_back(peer);
    }
  }
  Broadcast<AppendEntries> broadcast(runtime_.rpc(), peers, MakeAppend(first, end));
  const auto quorum = QuorumEvent::Majority(runtime_.replicas());
  const auto everybody = std::make_shared<AndEvent>();
  quorum->Add(own_write, [this, term, end] {
    if (Leads(term)) durable_index_ = std::max(durable_index_, end - 1);
    return true;
  });
  for (const auto& call : broadcast.calls()) {
    everybody->Add(call);
    quorum->Add(call, [this, term, &answered = *call] {
      return Leads(term) && OnAppendReply(FollowerOf(answered.peer()), answered.reply());
    });
  }
  // Who lags cannot answer this round; its catch-up may yet make the majority.
  for (int absent = quorum->total(); absent > static_cast<int>(peers.size()) + 1; --absent) {
    quorum->VoteNo(absent - 1);
  }

  ++rounds_;
  quorum->Wait(kStragglerGrace);
  --rounds_;
  AdvanceCommit();
  StartRound();

  // The clients have their answer; what follows delays nobody. Stragglers get a while, then their
  // frames are taken back.
  everybody->Wait(kStragglerGrace);
  const auto stragglers = broadcast.Stragglers();
  broadcast.Release();
  if (Leads(term)) {
    for (PeerId peer : stragglers) Lag(peer, first);
  }
  own_write->Wait();  // our own disk may be the slowest: the quorum must live to hear of it
}

void Raft::AppendPending() {
  // The round works for the client whose command comes first: its messages say so.
  if (pending_.front().responder) {
    runtime_.set_dependency(pending_.front().responder->dependency());
  }
  std::size_t bytes = 0;
  auto next = pending_.begin();
  for (; next != pending_.end() && bytes < kRoundBytesMax; ++next) {
    log_.push_back({term_, std::move(next->command)});
    if (next->responder) waiting_.push_back({last_index(), *next->responder});
    bytes += SizeOf(log_.back());
  }
  pending_.erase(pending_.begin(), next);
}

AppendEntries Raft::MakeAppend(std::uint64_t first_index, std::uint64_t end_index) const {
  AppendEntries request;
  request.term = term_;
  request.leader = runtime_.self();
  request.prev_log_index = first_index - 1;
  request.prev_log_term = TermAt(first_index - 1);
  request.entries.assign(log_.begin() + static_cast<std::ptrdiff_t>(first_index),
                         log_.begin() + static_cast<std::ptrdiff_t>(end_index));
  request.leader_commit = commit_index_;
  return request;
}

bool Raft::OnAppendReply(Follower& follower, const AppendEntriesReply& reply) {
  if (reply.term > term_) {
    BecomeFollower(reply.term);
    return false;
  }
  if (reply.success) {
    follower.match_index = std::max(follower.match_index, reply.match_index);
  } else {
    // Its log differs: a catch-up goes back to where it may still agree.
    const auto peer = static_cast<PeerId>(&follower - followers_.data());
    Lag(peer, std::max(reply.conflict_index, follower.match_index + 1));
  }
  return reply.success;
}

void Raft::Lag(PeerId peer, std::uint64_t from) {
  Follower& follower = FollowerOf(peer);
  follower.next_index = std::min(follower.next_index, from);
  follower.keeps_up = false;
  if (std::exchange(follower.catching_up, true)) return;
  runtime_.Spawn("catch-up", [this, peer] { CatchUp(peer); });
}

void Raft::CatchUp(PeerId peer) {
  runtime_.set_dependency({});  // no client asked for this: a background task
  const std::uint64_t term = term_;
  Follower& follower = FollowerOf(peer);
  std::size_t budget = kCatchUpBytesMin;
  Duration took = kForever;
  Duration timeout = kCatchUpTimeoutMin;
  while (Leads(term) && !follower.keeps_up) {
    const std::uint64_t first = follower.next_index;
    std::uint64_t end = first;
    for (std::size_t bytes = 0; end <= last_index() && bytes < budget; ++end) {
      bytes += SizeOf(log_[end]);
    }
    // The end of the log is in reach of a follower that answers promptly: from here on it is
    // broadcast to, behind this request on the same connection.
    if (end > last_index() && took < kCatchUpTarget) {
      follower.keeps_up = true;
      follower.next_index = end;
      if (first == end) break;
    }
    const Time sent = runtime_.Now();
    const auto call = runtime_.rpc().Call(peer, MakeAppend(first, end));
    const Outcome outcome = call->Wait(timeout);
    runtime_.rpc().Release(*call);  // if it has no answer by now, it must not stay queued either
    if (!Leads(term)) break;
    took = runtime_.Now() - sent;
    if (outcome != Outcome::kReady) {
      Lag(peer, first);
      timeout = std::min(timeout * 2, kCatchUpTimeoutMax);
      runtime_.Sleep(kHeartbeatInterval);  // it may be dead: do not shout at it
    } else if (OnAppendReply(follower, call->reply())) {
      if (!follower.keeps_up) follower.next_index = follower.match_index + 1;
      AdvanceCommit();
    }
    budget = std::clamp(took < kCatchUpTarget ? budget * 2 : budget / 2, kCatchUpBytesMin,
                        kCatchUpBytesMax);
  }
  if (Leads(term)) follower.catching_up = false;
}

void Raft::HeartbeatLoop() {
  const std::uint64_t term = term_;
  runtime_.set_dependency(Dependency::Heartbeat());
  while (Leads(term)) {
    Heartbeat(term);
    if (!Leads(term)) return;
    AdvanceCommit();  // an answer, or our own disk, may have been too late for its round
    if (runtime_.Now() - last_quorum_ > kElectionTimeoutMax) {
      BecomeFollower(term);  // cut off from the majority: let clients look elsewhere
    }
  }
}

void Raft::Heartbeat(std::uint64_t term) {
  const Time next = runtime_.Now() + kHeartbeatInterval;
  const auto quorum = QuorumEvent::Majority(runtime_.replicas());
  BroadcastCalls calls(runtime_.rpc());
  for (PeerId peer : runtime_.peers()) {
    const std::uint64_t known = FollowerOf(peer).match_index + 1;
    const auto call = runtime_.rpc().Call(peer, MakeAppend(known, known));
    calls.Include(call);
    quorum->Add(call, [this, term, &answered = *call] {
      return Leads(term) && OnAppendReply(FollowerOf(answered.peer()), answered.reply());
    });
  }
  quorum->VoteYes(runtime_.replicas() - 1);
  if (quorum->Wait(kHeartbeatInterval) == Outcome::kReady) last_quorum_ = runtime_.Now();
  // The others have until the next heartbeat: theirs may be the answer that tells of a newer term.
  runtime_.Sleep(std::max(next - runtime_.Now(), Duration::zero()));
  calls.Release();
}

void Raft::AdvanceCommit() {
  if (role_ != Role::kLeader) return;
  std::vector<std::uint64_t> matches;
  for (PeerId peer : runtime_.peers()) matches.push_back(FollowerOf(peer).match_index);
  matches.push_back(durable_index_);
  std::sort(matches.begin(), matches.end());
  const std::uint64_t majority = matches[(matches.size() - 1) / 2];
  // Entries of earlier terms commit only together with one of ours (section 5.4.2).
  if (TermAt(majority) == term_) CommitUpTo(majority);
}

// ---- replication, the follower's side ----

AppendEntriesReply Raft::OnAppendEntries(const AppendEntries& request) {
  if (request.term < term_) {
    AwaitDurable();  // the newer term that we answer with must be on disk
    return {term_, false, 0, 0};
  }
  if (request.term > term_ || role_ != Role::kFollower) BecomeFollower(request.term);
  leader_ = request.leader;
  last_heard_ = runtime_.Now();
  const std::uint64_t prev = request.prev_log_index;
  std::uint64_t conflict = 0;
  if (prev > last_index()) {
    conflict = last_index() + 1;
  } else if (TermAt(prev) != request.prev_log_term) {
    // Skip the whole conflicting term at once (section 5.3, fast backtracking).
    conflict = prev;
    while (conflict > commit_index_ + 1 && TermAt(conflict - 1) == TermAt(prev)) --conflict;
  } else {
    TakeEntries(request);
  }
  const bool durable = AwaitDurable();
  if (!durable || term_ != request.term) return {term_, false, 0, commit_index_ + 1};
  if (conflict != 0) return {term_, false, 0, conflict};
  return {term_, true, prev + request.entries.size(), 0};
}

void Raft::TakeEntries(const AppendEntries& request) {
  std::uint64_t index = request.prev_log_index + 1;
  auto entry = request.entries.begin();
  while (entry != request.entries.end() && index <= last_index() && TermAt(index) == entry->term) {
    ++entry, ++index;  // already here: a duplicate, or a retry
  }
  if (entry != request.entries.end()) {
    assert(index > commit_index_ && "a committed entry is never replaced");
    log_.resize(index);
    log_.insert(log_.end(), entry, request.entries.end());
    PersistEntries(index);
  }
  CommitUpTo(std::min(request.leader_commit, request.prev_log_index + request.entries.size()));
}

void Raft::CommitUpTo(std::uint64_t index) {
  if (index <= commit_index_) return;
  const std::uint64_t first = commit_index_ + 1;
  commit_index_ = index;
  ObserveCommit(runtime_, commit_index_);
  for (std::uint64_t i = first; i <= commit_index_; ++i) {
    ObserveApply(runtime_, i, TermAt(i), log_[i].command);
  }
  while (!waiting_.empty() && waiting_.front().index <= commit_index_) {
    waiting_.front().responder.Send(
        {SubmitStatus::kCommitted, runtime_.self(), waiting_.front().index});
    waiting_.pop_front();
  }
}

void Raft::FailWaiting(SubmitStatus status) {
  for (const Waiting& waiting : std::exchange(waiting_, {})) {
    waiting.responder.Send({status, leader_, waiting.index});
  }
  for (const Pending& pending : std::exchange(pending_, {})) {
    if (pending.responder) pending.responder->Send({SubmitStatus::kNotLeader, leader_, 0});
  }
}

}  // namespace depfast::raft

// Longer than other files, because a submission of this lab is raft.h and raft.cc.
#include "raft.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <tuple>

namespace depfast::raft {
namespace {

// The maximum of rounds under way. It keeps disk and network busy, and is small enough that many
// commands share a round.
constexpr int kRoundsMax = 4;
constexpr std::size_t kRoundBytesMax = 256 * 1024;

// A round without a quorum makes room for the next after this time. After that, or after the
// quorum, a follower that does not answer within the same time has fallen behind, ...
constexpr Duration kStragglerGrace = 100ms;
// ... or when more bytes than this wait for it in our memory.
constexpr std::size_t kHeldBytesMax = 64 * 1024;

// A follower joins the rounds after an answer to a catch-up request within kCatchUpTarget. The size
// of the next request doubles after an answer, and halves without one.
constexpr Duration kCatchUpTarget = 50ms;
constexpr std::size_t kCatchUpBytesMin = 4 * 1024;
constexpr std::size_t kCatchUpBytesMax = 128 * 1024;
// The timeout doubles after each lost request: the first loss costs little, and a follower that is
// only slow gets the time that it needs.
constexpr Duration kCatchUpTimeoutMin = 100ms;
constexpr Duration kCatchUpTimeoutMax = 1s;

// A leader's write may take this time. A quorum hides a slow disk of the leader, but not for ever.
constexpr Duration kOwnDiskTimeout = 10s;

// A campaign's answers count for this time, or until the term or its leader is another. The next
// campaign may ask for pre-votes meanwhile: a distant or slow voter needs more than a timeout.
constexpr Duration kAnswersAwaited = 1s;

}  // namespace

// ---- start and durability ----

Raft::Raft(Runtime& runtime, StateMachine& machine) : runtime_(runtime), machine_(machine) {}

void Raft::Start() {
  runtime_.rpc().Handle<RequestVote>(
      [this](PeerId, const RequestVote& request) { return OnRequestVote(request); });
  runtime_.rpc().Handle<AppendEntries>(
      [this](PeerId, const AppendEntries& request) { return OnAppendEntries(request); });
  runtime_.rpc().Handle<InstallSnapshot>(
      [this](PeerId, const InstallSnapshot& request) { return OnInstallSnapshot(request); });
  runtime_.Spawn("election", [this] {
    Recover();
    ElectionLoop();
  });
}

void Raft::Recover() {
  // A crash may have left unfinished files. If one cannot be removed, later operations fail.
  for (auto file : {kNewSnapshotFile, kNewWalFile}) std::ignore = runtime_.storage().Remove(file);
  RecoverSnapshot();
  RecoverLog();
  ChooseWhenToCompact();
  ObserveRole(runtime_, term_, role_);
  last_heard_ = runtime_.Now();
  // After a reset of the log the disk still holds another one.
  durable_index_ = last_write_ == nullptr ? last_index() : 0;
  recovered_->Add();
}

void Raft::RecoverSnapshot() {
  const auto bytes = ReadFile(kSnapshotFile);
  if (!bytes) return;
  auto snapshot = DecodeSnapshot(*bytes);
  if (!snapshot) throw std::runtime_error("the snapshot is damaged");
  snapshot_ = std::move(*snapshot);
  RestoreSnapshot();
}

void Raft::RecoverLog() {
  if (const auto bytes = ReadFile(kWalFile)) {
    WalState state;
    const std::size_t good = state.Recover(*bytes);
    // A crash tore the last write.
    if (good < bytes->size()) last_write_ = runtime_.storage().Truncate(kWalFile, good);
    term_ = state.hard_state.term;
    voted_for_ = state.hard_state.voted_for;
    log_ = std::move(state.log);
  }
  if (log_.base_index() > snapshot_.last_index) throw std::runtime_error("the log lacks entries");
  // A crash came after a leader's snapshot was installed, and before the log that continues it.
  if (!log_.Knows(snapshot_.last_index) || TermAt(snapshot_.last_index) != snapshot_.last_term) {
    log_.Reset(snapshot_.last_index, snapshot_.last_term);
    PersistLog();
  }
}

std::optional<std::string> Raft::ReadFile(const char* name) {
  const auto read = runtime_.storage().Read(name);
  if (read->Wait() == Outcome::kReady) return read->data();
  if (read->error() == ENOENT) return std::nullopt;
  throw std::system_error(read->error(), std::generic_category(), name);
}

std::shared_ptr<DiskEvent> Raft::AppendToWal(std::string record) {
  return last_write_ = runtime_.storage().Append(kWalFile, std::move(record), Storage::Sync::kYes);
}

void Raft::PersistHardState() { term_write_ = AppendToWal(EncodeHardState({term_, voted_for_})); }

void Raft::PersistLog() {
  std::ignore = runtime_.storage().Append(kNewWalFile, EncodeWal({term_, voted_for_}, log_),
                                          Storage::Sync::kYes);
  last_write_ = runtime_.storage().Rename(kNewWalFile, kWalFile);
}

// A write after a failed one fails, too: unless the snapshot is written, the log that needs it does
// not replace the old one.
void Raft::PersistSnapshot() {
  std::ignore =
      runtime_.storage().Append(kNewSnapshotFile, EncodeSnapshot(snapshot_), Storage::Sync::kYes);
  std::ignore = runtime_.storage().Rename(kNewSnapshotFile, kSnapshotFile);
}

void Raft::AwaitDurable(const std::shared_ptr<DiskEvent>& latest) {
  std::uint64_t term = 0;
  do {  // again if we learned of a new term meanwhile: it is on its way to disk
    term = term_;
    const auto write = latest;
    if (write != nullptr && write->Wait() != Outcome::kReady) {
      throw std::system_error(write->error(), std::generic_category(), "a write failed");
    }
  } while (term != term_);
}

// ---- elections ----

void Raft::ElectionLoop() {
  for (;;) {
    const Duration patience = runtime_.RandomBetween(kElectionTimeoutMin, kElectionTimeoutMax);
    const auto is_over = [&] {
      return role_ != Role::kLeader && runtime_.Now() >= last_heard_ + patience;
    };
    while (!is_over()) {
      const Time from = role_ == Role::kLeader ? runtime_.Now() : last_heard_;
      runtime_.Sleep(from + patience - runtime_.Now());
      // If our disk still writes a vote, its candidate waits for us.
      if (is_over()) AwaitDurable(last_write_);
    }
    last_heard_ = runtime_.Now();  // the next campaign comes a full timeout later
    runtime_.Spawn("campaign", [this] { Campaign(); });
  }
}

void Raft::Campaign() {
  // A replica that campaigns forgets its leader. Otherwise the replicas of a bare majority could
  // refuse each other's pre-votes for ever.
  leader_ = kNobody;
  // Without the pre-vote a replica that was merely slow would depose a healthy leader.
  if (!AskForVotes(term_ + 1, /*pre_vote=*/true, kAnswersAwaited)) return;
  const std::uint64_t term = ++term_;
  role_ = Role::kCandidate;
  voted_for_ = runtime_.self();
  ObserveRole(runtime_, term_, role_);
  const Time from = runtime_.Now();
  PersistHardState();
  AwaitDurable(term_write_);
  if (term_ != term) return;  // a newer term has come meanwhile
  // The voters' disks may be as slow as ours, and a vote may wait for the write before it.
  const Duration patience = kAnswersAwaited + 2 * (runtime_.Now() - from);
  last_heard_ = runtime_.Now() + patience - kAnswersAwaited;
  if (AskForVotes(term, /*pre_vote=*/false, patience) && role_ == Role::kCandidate) BecomeLeader();
}

bool Raft::AskForVotes(std::uint64_t term, bool pre_vote, Duration patience) {
  const RequestVote request{term, runtime_.self(), last_index(), TermAt(last_index()), pre_vote};
  Broadcast<RequestVote> broadcast(runtime_.rpc(), runtime_.peers(), request);
  const auto quorum = QuorumEvent::Majority(runtime_.replicas());
  for (const auto& call : broadcast.calls()) {
    quorum->Add(call, [this, pre_vote, began = runtime_.Now(), &answered = *call] {
      if (answered.reply().term > term_) BecomeFollower(answered.reply().term);
      return answered.reply().granted && (!pre_vote || yielded_ < began);
    });
  }
  quorum->VoteYes(runtime_.replicas() - 1);  // our own vote
  quorum->Wait(patience);
  broadcast.Release();
  // A leader may have been heard of meanwhile: then there is nothing to campaign for.
  return quorum->Ready() && term_ + (pre_vote ? 1 : 0) == term && leader_ == kNobody;
}

RequestVoteReply Raft::OnRequestVote(const RequestVote& request) {
  recovered_->Wait();
  if (request.pre_vote) {
    const bool leader_lives =
        role_ == Role::kLeader ||
        (leader_ != kNobody && runtime_.Now() < last_heard_ + kElectionTimeoutMin);
    const bool granted = request.term > term_ && !leader_lives && WouldVoteFor(request);
    if (granted && request.candidate < runtime_.self()) yielded_ = runtime_.Now();
    AwaitDurable(term_write_);  // the answer names our term
    return {term_, granted};
  }
  if (request.term > term_) BecomeFollower(request.term);
  const bool free_to_vote = voted_for_ == kNobody || voted_for_ == request.candidate;
  const bool granted = request.term == term_ && free_to_vote && WouldVoteFor(request);
  if (granted) {
    voted_for_ = request.candidate;
    PersistHardState();
  }
  AwaitDurable(term_write_);
  // The candidate has not had our vote before.
  if (granted && term_ == request.term) last_heard_ = runtime_.Now();
  return {term_, granted && term_ == request.term};
}

bool Raft::WouldVoteFor(const RequestVote& request) const {
  // The election restriction: the candidate's log is at least as up to date as ours (section
  // 5.4.1).
  return std::pair(request.last_log_term, request.last_log_index) >=
         std::pair(log_.last_term(), last_index());
}

void Raft::BecomeFollower(std::uint64_t term) {
  if (term > term_) {
    term_ = term;
    voted_for_ = kNobody;
    leader_ = kNobody;
    PersistHardState();
  }
  if (role_ == Role::kLeader) {
    leader_ = kNobody;  // it was ourselves
    last_heard_ = runtime_.Now();
  }
  role_ = Role::kFollower;
  ObserveRole(runtime_, term_, role_);
  FailWaiting(SubmitStatus::kUnknown);
}

void Raft::BecomeLeader() {
  role_ = Role::kLeader;
  leader_ = runtime_.self();
  ObserveRole(runtime_, term_, role_);
  progress_.assign(static_cast<std::size_t>(runtime_.replicas()), Progress{last_index() + 1});
  durable_index_ = last_index();  // our own vote is durable, and was written later
  // An entry of our own term, even an empty one, lets us commit the entries of earlier terms
  // (section 5.4.2).
  pending_.push_back({"", {}, nullptr});
  StartRound();
  runtime_.Spawn("heartbeat", [this] { HeartbeatLoop(); });
}

// ---- heartbeats and reads ----

void Raft::HeartbeatLoop() {
  const std::uint64_t term = term_;
  for (last_heard_ = runtime_.Now(); Leads(term); runtime_.Sleep(kHeartbeatInterval)) {
    AdvanceCommit();  // answers, or our own disk, may have come after the end of their round
    runtime_.Spawn("heartbeat", [this] { Heartbeat(); });
    // Without a majority we step down: clients must look for another leader.
    if (runtime_.Now() > last_heard_ + kElectionTimeoutMax) BecomeFollower(term);
  }
}

void Raft::Heartbeat() {
  if (role_ != Role::kLeader) return;
  const std::uint64_t term = term_;
  // Every command that we acknowledged before these reads came is applied. If a majority still
  // follows us after that, no other leader can have acknowledged more. But until an entry of our
  // own term is committed, earlier leaders may have committed more than we know.
  std::vector<PendingRead> reads;
  if (TermAt(commit_index_) == term) reads.swap(reads_);
  runtime_.set_dependency(reads.empty() ? Dependency::Heartbeat() : reads.front().client);
  BroadcastCalls calls(runtime_.rpc());
  const auto quorum = AskWhoFollows(calls);
  const bool confirmed = quorum->Wait(kElectionTimeoutMax) == Outcome::kReady && Leads(term);
  if (confirmed) last_heard_ = runtime_.Now();
  for (const PendingRead& read : reads) read.done(confirmed);
  // A distant follower's answer is late, not lost, and may bring a newer term.
  if (reads.empty()) runtime_.Sleep(kElectionTimeoutMax);
  calls.Release();
}

void Raft::ReadIndex(const Dependency& client, ReadDone done) {
  if (role_ != Role::kLeader) return done(false);
  reads_.push_back({client, std::move(done)});
  // It runs after all messages of this step are handled: one heartbeat for their reads.
  if (reads_.size() == 1) runtime_.Spawn("confirm", [this] { Heartbeat(); });
}

std::shared_ptr<QuorumEvent> Raft::AskWhoFollows(BroadcastCalls& calls) {
  const std::uint64_t term = term_;
  const auto quorum = QuorumEvent::Majority(runtime_.replicas());
  for (PeerId peer : runtime_.peers()) {
    const std::uint64_t known = std::max(ProgressOf(peer).match_index, log_.base_index()) + 1;
    const auto call = runtime_.rpc().Call(peer, MakeAppend(known, known));
    calls.Include(call);
    quorum->Add(call, [this, term, &answered = *call] {
      if (!Leads(term)) return false;
      OnAppendReply(answered.peer(), answered.reply());
      return answered.reply().term == term;  // it follows us, even if its log differs
    });
  }
  quorum->VoteYes(runtime_.replicas() - 1);
  return quorum;
}

// ---- replication, the leader's side ----

void Raft::Submit(std::string command, const Dependency& client, SubmitDone done) {
  const bool accepts = role_ == Role::kLeader && !command.empty();
  if (!accepts) return done({SubmitStatus::kNotProposer, leader_, 0, ""});
  pending_.push_back({std::move(command), client, std::move(done)});
  StartRound();
}

void Raft::StartRound() {
  if (pending_.empty() || round_starting_ || rounds_ >= kRoundsMax) return;
  // The coroutine runs after all messages of this step are handled: one round for their commands.
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
  const auto own_write = AppendToWal(EncodeEntries(log_, first));
  Broadcast<AppendEntries> round = SendRound(first, end);
  const auto quorum = VotesOn(round, own_write, end);

  ++rounds_;
  quorum->Wait(kStragglerGrace);
  --rounds_;
  AdvanceCommit();
  StartRound();

  // The clients have their answer: these waits delay nobody.
  runtime_.Sleep(kStragglerGrace);
  const auto stragglers = round.Stragglers();
  round.Release();
  if (!Leads(term)) return;
  for (PeerId peer : stragglers) FellBehind(peer, first);
  // The quorum must live until our own disk has written, too. A disk that cannot keep up would fill
  // our memory: another replica leads before that.
  if (own_write->Wait(kOwnDiskTimeout) == Outcome::kTimedOut && Leads(term)) BecomeFollower(term);
}

void Raft::AppendPending() {
  // The round's messages name the client of the first command: a round has one dependency.
  if (pending_.front().done) runtime_.set_dependency(pending_.front().client);
  std::size_t bytes = 0;
  auto next = pending_.begin();
  for (; next != pending_.end() && bytes < kRoundBytesMax; ++next) {
    log_.Append({term_, std::move(next->command)});
    if (next->done) waiting_[last_index()] = std::move(next->done);
    bytes += RaftLog::SizeOf(log_.At(last_index()));
  }
  pending_.erase(pending_.begin(), next);
}

AppendEntries Raft::MakeAppend(std::uint64_t first, std::uint64_t end) const {
  const std::uint64_t prev = first - 1;
  return {term_, runtime_.self(), prev, TermAt(prev), log_.Slice(first, end), commit_index_};
}

Broadcast<AppendEntries> Raft::SendRound(std::uint64_t first, std::uint64_t end) {
  std::vector<PeerId> peers;
  for (PeerId peer : runtime_.peers()) {
    if (!ProgressOf(peer).keeps_up) continue;
    if (runtime_.HeldBytes(peer) > kHeldBytesMax) {
      FellBehind(peer, first);
    } else {
      ProgressOf(peer).next_index = end;
      peers.push_back(peer);
    }
  }
  return {runtime_.rpc(), peers, MakeAppend(first, end)};
}

std::shared_ptr<QuorumEvent> Raft::VotesOn(const Broadcast<AppendEntries>& round,
                                           const std::shared_ptr<DiskEvent>& own_write,
                                           std::uint64_t end) {
  const std::uint64_t term = term_;
  const auto quorum = QuorumEvent::Majority(runtime_.replicas());
  quorum->Add(own_write, [this, term, end] {
    if (Leads(term)) durable_index_ = std::max(durable_index_, end - 1);
    return true;
  });
  for (const auto& call : round.calls()) {
    quorum->Add(call, [this, term, &answered = *call] {
      return Leads(term) && OnAppendReply(answered.peer(), answered.reply());
    });
  }
  // A follower that has fallen behind cannot answer this round.
  for (int absent = quorum->total(); absent > static_cast<int>(round.size()) + 1; --absent) {
    quorum->VoteLost(absent - 1);
  }
  return quorum;
}

bool Raft::OnAppendReply(PeerId peer, const AppendEntriesReply& reply) {
  Progress& progress = ProgressOf(peer);
  if (reply.term > term_) {
    BecomeFollower(reply.term);
    return false;
  }
  if (reply.success) {
    progress.match_index = std::max(progress.match_index, reply.match_index);
    progress.next_index = std::max(progress.next_index, progress.match_index + 1);
  } else {
    FellBehind(peer, reply.conflict_index);  // the logs may agree before that entry
  }
  return reply.success;
}

void Raft::AdvanceCommit() {
  if (role_ != Role::kLeader) return;
  std::vector<std::uint64_t> matches{durable_index_};
  for (PeerId peer : runtime_.peers()) matches.push_back(ProgressOf(peer).match_index);
  std::sort(matches.begin(), matches.end());
  const std::uint64_t majority = matches[(matches.size() - 1) / 2];
  // Entries of earlier terms commit only together with an entry of our term (section 5.4.2).
  if (majority > commit_index_ && TermAt(majority) == term_) CommitUpTo(majority);
}

// ---- lagging followers ----

void Raft::FellBehind(PeerId peer, std::uint64_t from) {
  Progress& progress = ProgressOf(peer);
  progress.next_index = std::max(std::min(progress.next_index, from), progress.match_index + 1);
  progress.keeps_up = false;
  if (std::exchange(progress.served, true)) return;
  progress.prompt = false;
  progress.request_bytes = kCatchUpBytesMin;
  progress.request_timeout = kCatchUpTimeoutMin;
  runtime_.Spawn("catch-up", [this, peer] { CatchUp(peer); });
}

void Raft::CatchUp(PeerId peer) {
  runtime_.set_dependency({});  // a background task: no client asked for it
  const std::uint64_t term = term_;
  while (Leads(term) && !ProgressOf(peer).keeps_up) {
    const bool compacted = ProgressOf(peer).next_index <= log_.base_index();
    const bool answered = compacted ? SendSnapshot(peer) : SendEntries(peer);
    if (!answered) runtime_.Sleep(kHeartbeatInterval);  // limits retries to a silent follower
  }
  if (Leads(term)) ProgressOf(peer).served = false;
}

bool Raft::SendEntries(PeerId peer) {
  const std::uint64_t term = term_;
  Progress& progress = ProgressOf(peer);
  const std::uint64_t first = progress.next_index;
  std::uint64_t end = first;
  for (std::size_t size = 0; end <= last_index() && size < progress.request_bytes; ++end) {
    size += RaftLog::SizeOf(log_.At(end));
  }
  if (end > last_index() && progress.prompt) {
    // The request reaches the end of the log: rounds may follow it on the same connection.
    progress.keeps_up = true;
    progress.next_index = end;
    if (first == end) return true;
  }
  const Time sent = runtime_.Now();
  // When its time is over, the request leaves our queue, too.
  const auto call = runtime_.rpc().Call(peer, MakeAppend(first, end), progress.request_timeout);
  const Outcome outcome = call->Wait();
  if (!Leads(term)) return true;
  if (outcome != Outcome::kReady) {
    FellBehind(peer, first);
    progress.prompt = false;
    progress.request_bytes = std::max(progress.request_bytes / 2, kCatchUpBytesMin);
    progress.request_timeout = std::min(progress.request_timeout * 2, kCatchUpTimeoutMax);
    return false;
  }
  const bool accepted = OnAppendReply(peer, call->reply());
  if (accepted) AdvanceCommit();
  if (!Leads(term)) return true;
  progress.prompt = runtime_.Now() - sent < kCatchUpTarget;
  progress.request_bytes = std::min(progress.request_bytes * 2, kCatchUpBytesMax);
  // A follower that has lost entries which it had acknowledged refuses the same request for ever.
  return accepted || progress.next_index < first;
}

bool Raft::SendSnapshot(PeerId peer) {
  const std::uint64_t term = term_;
  const Snapshot snapshot = snapshot_;  // a newer one may replace snapshot_ meanwhile
  std::uint64_t received = 0;
  do {
    const std::string chunk = snapshot.state.substr(received, kSnapshotChunkBytes);
    const auto call = runtime_.rpc().Call(
        peer,
        InstallSnapshot{term, runtime_.self(), snapshot.last_index, snapshot.last_term,
                        snapshot.state.size(), received, chunk},
        kCatchUpTimeoutMax);
    if (call->Wait() != Outcome::kReady || !Leads(term)) return false;
    if (call->reply().term > term_) BecomeFollower(call->reply().term);
    received = call->reply().received;
    if (!Leads(term) || received > snapshot.state.size()) return false;  // a nonsensical answer
  } while (received < snapshot.state.size());
  return OnAppendReply(peer, {term, true, snapshot.last_index, 0});
}

// ---- replication, the follower's side ----

AppendEntriesReply Raft::OnAppendEntries(const AppendEntries& request) {
  recovered_->Wait();
  if (request.term < term_) {
    AwaitDurable(term_write_);  // the answer names our term, which must be on disk
    return {term_, false, 0, 0};
  }
  if (request.term > term_ || role_ != Role::kFollower) BecomeFollower(request.term);
  leader_ = request.leader;
  last_heard_ = runtime_.Now();
  const std::uint64_t prev = request.prev_log_index;
  std::uint64_t conflict = 0;
  if (prev > last_index()) {
    conflict = last_index() + 1;
  } else if (prev >= log_.base_index() && TermAt(prev) != request.prev_log_term) {
    // Skip the whole conflicting term at once (section 5.3, fast backtracking).
    conflict = prev;
    while (conflict > commit_index_ + 1 && TermAt(conflict - 1) == TermAt(prev)) --conflict;
  } else {
    TakeEntries(request);
  }
  // Most heartbeats acknowledge nothing new: a slow disk does not delay their answers.
  const std::uint64_t end = prev + request.entries.size();
  AwaitDurable(conflict == 0 && end > durable_index_ ? last_write_ : term_write_);
  if (term_ != request.term) return {term_, false, 0, commit_index_ + 1};
  if (conflict != 0) return {term_, false, 0, conflict};
  durable_index_ = std::max(durable_index_, end);
  return {term_, true, end, 0};
}

void Raft::TakeEntries(const AppendEntries& request) {
  std::uint64_t index = request.prev_log_index;
  std::uint64_t first_new = 0;
  for (const LogEntry& entry : request.entries) {
    ++index;
    if (index <= log_.base_index()) continue;
    if (index <= last_index() && TermAt(index) == entry.term) continue;  // a duplicate, or a retry
    assert(index > commit_index_ && "a committed entry is never replaced");
    if (index <= last_index()) log_.TruncateFrom(index);
    durable_index_ = std::min(durable_index_, index - 1);
    log_.Append(entry);
    if (first_new == 0) first_new = index;
  }
  if (first_new != 0) AppendToWal(EncodeEntries(log_, first_new));
  CommitUpTo(std::min(request.leader_commit, index));
}

void Raft::CommitUpTo(std::uint64_t index) {
  if (index <= commit_index_) return;
  const std::uint64_t first = std::exchange(commit_index_, index) + 1;
  ObserveCommit(runtime_, commit_index_);
  for (std::uint64_t i = first; i <= commit_index_; ++i) {
    const LogEntry& entry = log_.At(i);
    ObserveApply(runtime_, i, entry.term, entry.command);
    const std::string result = entry.command.empty() ? "" : machine_.Apply(i, entry.command);
    const auto client = waiting_.extract(i);
    if (client) client.mapped()({SubmitStatus::kCommitted, runtime_.self(), i, result});
  }
  CompactIfLarge();
}

void Raft::FailWaiting(SubmitStatus status) {
  for (const auto& [index, done] : std::exchange(waiting_, {})) done({status, leader_, index, ""});
  for (const Pending& pending : std::exchange(pending_, {})) {
    if (pending.done) pending.done({SubmitStatus::kNotProposer, leader_, 0, ""});
  }
  for (const PendingRead& read : std::exchange(reads_, {})) read.done(false);
}

// ---- snapshots ----

void Raft::CompactIfLarge() {
  if (log_.bytes() <= compact_above_) return;
  std::uint64_t base = last_index();
  std::size_t stays = 0;
  while (base > log_.base_index() && (base > commit_index_ || stays < kRetainedBytes)) {
    stays += RaftLog::SizeOf(log_.At(base--));
  }
  // The entries that stay are written again. Behind a long tail of uncommitted entries that would
  // cost much and free little, time after time.
  if (stays > log_.bytes() / 3 * 2) return;
  snapshot_ = {commit_index_, TermAt(commit_index_), machine_.Snapshot()};
  PersistSnapshot();
  log_.CompactUpTo(base);
  PersistLog();
  ChooseWhenToCompact();
}

// If all replicas compacted at the same moment, all disks would be busy. A quorum hides one busy
// disk of three, not two.
void Raft::ChooseWhenToCompact() {
  const auto most = static_cast<std::int64_t>(CompactAboveBytes(snapshot_.state.size()));
  compact_above_ = static_cast<std::size_t>(runtime_.RandomBetween(most / 2, most));
}

void Raft::RestoreSnapshot() {
  machine_.Restore(snapshot_.state);
  commit_index_ = snapshot_.last_index;
  ObserveRestore(runtime_, snapshot_.last_index, snapshot_.last_term);
  ObserveCommit(runtime_, commit_index_);
}

InstallSnapshotReply Raft::OnInstallSnapshot(const InstallSnapshot& request) {
  recovered_->Wait();
  if (request.term < term_) {
    AwaitDurable(term_write_);
    return {term_, 0};
  }
  if (request.term > term_ || role_ != Role::kFollower) BecomeFollower(request.term);
  leader_ = request.leader;
  last_heard_ = runtime_.Now();
  if (request.last_index > commit_index_ && TakeChunk(request)) InstallIncoming();
  const bool installed = request.last_index <= commit_index_;
  const std::uint64_t received = installed ? request.total_bytes : incoming_.state.size();
  AwaitDurable(last_write_);
  return {term_, term_ == request.term ? received : 0};
}

bool Raft::TakeChunk(const InstallSnapshot& request) {
  const bool goes_on = incoming_term_ == request.term &&
                       incoming_.last_index == request.last_index &&
                       incoming_.last_term == request.last_term;
  if (!goes_on) incoming_ = {request.last_index, request.last_term, ""};
  incoming_term_ = request.term;
  if (request.offset == incoming_.state.size()) incoming_.state += request.data;
  return incoming_.state.size() == request.total_bytes;
}

void Raft::InstallIncoming() {
  snapshot_ = std::exchange(incoming_, {});
  const std::uint64_t index = snapshot_.last_index;
  // The entries behind the snapshot stay only if our log agrees with the snapshot.
  if (log_.Knows(index) && TermAt(index) == snapshot_.last_term) {
    log_.CompactUpTo(index);
  } else {
    log_.Reset(index, snapshot_.last_term);
    durable_index_ = 0;
  }
  RestoreSnapshot();
  PersistSnapshot();
  PersistLog();
}

}  // namespace depfast::raft

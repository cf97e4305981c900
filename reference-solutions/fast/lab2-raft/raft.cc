// Longer than other files, because a submission of this lab is raft.h and raft.cc.
#include "raft.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "depfast/compound_event.h"
#include "quorum_event.h"

namespace depfast::raft {
namespace {

// The maximum of rounds under way. It keeps disk and network busy, and is small enough that many
// commands share a round.
constexpr int kRoundsMax = 2;
constexpr std::size_t kRoundBytesMax = 256 * 1024;
// A round costs each replica a write. So a few commands wait for the round before them, if it began
// less than kYoung ago. If the followers are far away, they do not wait for its end.
constexpr std::size_t kFewCommands = 400;
constexpr Duration kYoung = 2ms;

// A follower has fallen behind when it has not answered a round for so long, ...
constexpr Duration kStragglerGrace = 100ms;
// ... or when more bytes than this wait for it in our memory.
constexpr std::size_t kHeldBytesMax = 64 * 1024;

// An answer to a catch-up request is prompt within kCatchUpTarget. The size of the next request
// doubles after an answer that took at most so much longer than the fastest, and halves otherwise.
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

// A snapshot is encoded and written in pieces of this size, so that neither the replica nor the
// entries on their way to the disk wait long. Between two pieces others have their turn.
constexpr std::size_t kPieceBytes = 512 * 1024;
constexpr Duration kPause = 20us;

// The heartbeats whose answers count. A leader steps down when a majority answers none of them.
constexpr std::size_t kHeartbeatsMax = kElectionTimeoutMax / kHeartbeatInterval;

// A round, or a confirmation, waits for most of the clients that were just answered, and not longer
// than this: they send their next commands now, and share it.
constexpr Duration kGather = 500us;

// The state machine is told so many commands before the first of them is applied.
constexpr std::size_t kExpectedAtOnce = 16;

}  // namespace

// ---- returning clients ----

void ReturningClients::Expect(std::size_t answered) {
  most_->Set(most_->target());  // what waits for earlier ones has waited enough
  const auto most = static_cast<std::int64_t>(answered - answered / 4);
  most_ = std::make_shared<IntEvent>("returning clients", most);
}

void ReturningClients::Wait() const {
  const auto most = most_;
  most->Wait(kGather);
}

// ---- a follower's progress ----

void Progress::RoundSent(std::uint64_t end) {
  assert(InRounds() && end > match_index_);
  next_index_ = end;
}

void Progress::Acknowledged(std::uint64_t index) {
  match_index_ = std::max(match_index_, index);
  next_index_ = std::max(next_index_, match_index_ + 1);
  if (state_ == State::kSnapshot) state_ = State::kProbe;
}

bool Progress::FellBehind(std::uint64_t from) {
  next_index_ = std::max(std::min(next_index_, from), match_index_ + 1);
  const bool leaves_replicate = state_ == State::kReplicate;
  if (leaves_replicate) {
    request_bytes_ = kCatchUpBytesMin;
    request_timeout_ = kCatchUpTimeoutMin;
    fastest_answer_ = kForever;
  }
  if (InRounds()) state_ = State::kProbe;
  return leaves_replicate;
}

void Progress::Join(std::uint64_t end) {
  assert(state_ == State::kCatchUp && end >= next_index_);
  // If no entry is missing there is no request to wait for.
  state_ = end == next_index_ ? State::kReplicate : State::kJoin;
  next_index_ = end;
}

void Progress::RequestAnswered(Duration took) {
  assert(state_ != State::kReplicate && state_ != State::kSnapshot);
  const bool prompt = took < kCatchUpTarget;
  if (state_ == State::kJoin) {
    state_ = State::kReplicate;
  } else {
    state_ = prompt ? State::kCatchUp : State::kProbe;
  }
  fastest_answer_ = std::min(fastest_answer_, took);
  const bool keeps_up = took - fastest_answer_ < kCatchUpTarget;
  request_bytes_ = std::clamp(keeps_up ? request_bytes_ * 2 : request_bytes_ / 2, kCatchUpBytesMin,
                              kCatchUpBytesMax);
}

void Progress::RequestLost(std::uint64_t first) {
  assert(state_ != State::kReplicate && state_ != State::kSnapshot);
  FellBehind(first);
  state_ = State::kProbe;
  request_bytes_ = std::max(request_bytes_ / 2, kCatchUpBytesMin);
  request_timeout_ = std::min(request_timeout_ * 2, kCatchUpTimeoutMax);
}

void Progress::SnapshotNeeded() {
  assert(!InRounds());
  state_ = State::kSnapshot;
}

// ---- start and durability ----

Raft::Raft(Runtime& runtime, StateMachine& machine)
    : runtime_(runtime),
      machine_(machine),
      recovered_(std::make_shared<IntEvent>("recovery", 1)),
      progress_(static_cast<std::size_t>(runtime.replicas())) {}

void Raft::Start() {
  runtime_.rpc().Handle<RequestVote>([this](PeerId, const RequestVote& request) {
    recovered_->Wait();
    return OnRequestVote(request);
  });
  runtime_.rpc().Handle<AppendEntries>([this](PeerId, AppendEntries request) {
    recovered_->Wait();
    return OnAppendEntries(std::move(request));
  });
  runtime_.rpc().Handle<InstallSnapshot>([this](PeerId, const InstallSnapshot& request) {
    recovered_->Wait();
    return OnInstallSnapshot(request);
  });
  runtime_.Spawn("election", [this] {
    Recover();
    ElectionLoop();
  });
}

void Raft::Recover() {
  // A crash may have left unfinished files. If one cannot be removed, later operations fail.
  std::ignore = runtime_.storage().Remove(kNewSnapshotFile);
  std::ignore = runtime_.storage().Remove(kNewWalFile);
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
  const auto read = runtime_.storage().Read(kSnapshotFile);
  if (read->Wait() == Outcome::kReady) {
    auto snapshot = DecodeSnapshot(read->data());
    if (!snapshot) throw std::runtime_error("the snapshot is damaged");
    snapshot_ = std::move(*snapshot);
    RestoreSnapshot();
  } else if (read->error() != ENOENT) {
    throw std::system_error(read->error(), std::generic_category(), "cannot read the snapshot");
  }
}

void Raft::RecoverLog() {
  const auto read = runtime_.storage().Read(kWalFile);
  if (read->Wait() == Outcome::kReady) {
    WalState state;
    const std::size_t good = state.Recover(read->data());
    if (good < read->data().size()) {
      last_write_ = runtime_.storage().Truncate(kWalFile, good);  // a crash tore the last write
    }
    term_ = state.hard_state.term;
    voted_for_ = state.hard_state.voted_for;
    log_ = std::move(state.log);
  } else if (read->error() != ENOENT) {
    throw std::system_error(read->error(), std::generic_category(),
                            "cannot read the write-ahead log");
  }
  if (log_.base_index() > snapshot_.last_index) {
    throw std::runtime_error("the write-ahead log begins after the snapshot ends");
  }
  // A crash came after a leader's snapshot was installed, and before the log that continues it.
  if (!log_.Knows(snapshot_.last_index) || TermAt(snapshot_.last_index) != snapshot_.last_term) {
    log_.Reset(snapshot_.last_index, snapshot_.last_term);
    PersistLog();
  }
}

void Raft::PersistHardState() {
  last_write_ = AppendToLog(EncodeHardState({term_, voted_for_}));
  term_write_ = last_write_;
}

std::shared_ptr<DiskEvent> Raft::PersistEntries(std::uint64_t first_index) {
  last_write_ = AppendToLog(EncodeEntries(log_, first_index));
  return last_write_;
}

std::shared_ptr<DiskEvent> Raft::AppendToLog(std::string record) {
  if (compaction_ != nullptr) compaction_->records += record;
  return runtime_.storage().Append(kWalFile, std::move(record), Storage::Sync::kYes);
}

void Raft::PersistLog() {
  const std::string bytes = EncodeWal({term_, voted_for_}, log_);
  std::ignore = runtime_.storage().Append(kNewWalFile, bytes, Storage::Sync::kYes);
  last_write_ = runtime_.storage().Rename(kNewWalFile, kWalFile);
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
    last_heard_ = runtime_.Now();
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
  std::fill(progress_.begin(), progress_.end(), Progress{last_index() + 1});
  durable_index_ = last_index();  // our own vote is durable, and was written later
  // An entry of our own term, even an empty one, lets us commit the entries of earlier terms
  // (section 5.4.2).
  pending_.push_back({"", {}, nullptr});
  StartRound();
  runtime_.Spawn("heartbeat", [this] { HeartbeatLoop(); });
}

// ---- replication, the leader's side ----

void Raft::Submit(std::string command, const Dependency& client, SubmitDone done) {
  if (role_ != Role::kLeader || command.empty()) {
    done({SubmitStatus::kNotProposer, leader_, 0, ""});
    return;
  }
  pending_.push_back({std::move(command), client, std::move(done)});
  returning_writers_.Add();
  StartRound();
}

void Raft::StartRound() {
  if (pending_.empty() || round_starting_ || rounds_ >= kRoundsMax) return;
  if (young_rounds_ > 0 && pending_.size() < kFewCommands) return;
  // The coroutine runs after all messages of this step are handled: one round for their commands.
  round_starting_ = true;
  runtime_.Spawn("replicate", [this] { Round(); });
}

void Raft::Round() {
  returning_writers_.Wait();
  round_starting_ = false;
  if (role_ != Role::kLeader || pending_.empty()) return;
  const std::uint64_t term = term_;
  const std::uint64_t first = last_index() + 1;
  AppendPending();
  const std::uint64_t end = last_index() + 1;
  const auto own_write = PersistEntries(first);
  Broadcast<AppendEntries> round = SendRound(first, end);
  const auto quorum = VotesOn(round, own_write, end);

  ++rounds_;
  ++young_rounds_;
  quorum->Wait(kYoung);
  --young_rounds_;
  StartRound();
  quorum->Wait(kStragglerGrace);
  --rounds_;
  AdvanceCommit();
  StartRound();

  // The clients have their answer: these waits delay nobody.
  ReleaseStragglers(round, term, first);
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
    if (next->done) waiting_.push_back({last_index(), std::move(next->done)});
    bytes += RaftLog::SizeOf(log_.At(last_index()));
  }
  pending_.erase(pending_.begin(), next);
}

Broadcast<AppendEntries> Raft::SendRound(std::uint64_t first, std::uint64_t end) {
  std::vector<PeerId> peers;
  for (PeerId peer : runtime_.peers()) {
    if (!ProgressOf(peer).InRounds()) continue;
    if (runtime_.HeldBytes(peer) > kHeldBytesMax) {
      FellBehind(peer, first);
    } else {
      ProgressOf(peer).RoundSent(end);
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

void Raft::ReleaseStragglers(Broadcast<AppendEntries>& round, std::uint64_t term,
                             std::uint64_t first) {
  const auto everybody = std::make_shared<AndEvent>();
  for (const auto& call : round.calls()) everybody->Add(call);
  everybody->Wait(kStragglerGrace);
  const auto stragglers = round.Stragglers();
  round.Release();
  if (!Leads(term)) return;
  for (PeerId peer : stragglers) FellBehind(peer, first);
}

AppendEntries Raft::MakeAppend(std::uint64_t first_index, std::uint64_t end_index) const {
  AppendEntries request;
  request.term = term_;
  request.leader = runtime_.self();
  request.prev_log_index = first_index - 1;
  request.prev_log_term = TermAt(first_index - 1);
  request.entries = log_.Slice(first_index, end_index);
  request.leader_commit = commit_index_;
  return request;
}

bool Raft::OnAppendReply(PeerId peer, const AppendEntriesReply& reply) {
  if (reply.term > term_) {
    BecomeFollower(reply.term);
    return false;
  }
  if (reply.success) {
    ProgressOf(peer).Acknowledged(reply.match_index);
  } else {
    FellBehind(peer, reply.conflict_index);  // the logs may agree before that entry
  }
  return reply.success;
}

void Raft::FellBehind(PeerId peer, std::uint64_t from) {
  if (!ProgressOf(peer).FellBehind(from)) return;
  runtime_.Spawn("catch-up", [this, peer] { CatchUp(peer); });
}

void Raft::CatchUp(PeerId peer) {
  runtime_.set_dependency({});  // a background task: no client asked for it
  const std::uint64_t term = term_;
  while (Leads(term) && ProgressOf(peer).state() != Progress::State::kReplicate) {
    const bool compacted = ProgressOf(peer).next_index() <= log_.base_index();
    const bool answered = compacted ? SendSnapshot(peer) : SendEntries(peer);
    if (!answered) runtime_.Sleep(kHeartbeatInterval);  // limits retries to a silent follower
  }
}

bool Raft::SendEntries(PeerId peer) {
  const std::uint64_t term = term_;
  Progress& progress = ProgressOf(peer);
  const std::uint64_t first = progress.next_index();
  const std::uint64_t end = EndOfRequest(first, progress.request_bytes());
  if (end > last_index() && progress.state() == Progress::State::kCatchUp) {
    progress.Join(end);
    if (progress.state() == Progress::State::kReplicate) return true;
  }
  const Time sent = runtime_.Now();
  const auto call = runtime_.rpc().Call(peer, MakeAppend(first, end));
  const Outcome outcome = call->Wait(progress.request_timeout());
  runtime_.rpc().Release(*call);  // an unanswered request must not stay in our queue
  if (!Leads(term)) return true;
  if (outcome != Outcome::kReady) {
    progress.RequestLost(first);
    return false;
  }
  const bool accepted = OnAppendReply(peer, call->reply());
  if (accepted) AdvanceCommit();
  if (Leads(term)) progress.RequestAnswered(runtime_.Now() - sent);
  // A follower that has lost entries which it had acknowledged refuses the same request for ever.
  return accepted || progress.next_index() < first;
}

std::uint64_t Raft::EndOfRequest(std::uint64_t first, std::size_t bytes) const {
  std::uint64_t end = first;
  for (std::size_t size = 0; end <= last_index() && size < bytes; ++end) {
    size += RaftLog::SizeOf(log_.At(end));
  }
  return end;
}

bool Raft::SendSnapshot(PeerId peer) {
  ProgressOf(peer).SnapshotNeeded();
  const std::uint64_t term = term_;
  const Snapshot snapshot = snapshot_;  // a newer one may replace snapshot_ meanwhile
  std::uint64_t received = 0;
  do {
    const auto chunk = std::string_view(snapshot.state).substr(received, kSnapshotChunkBytes);
    const auto call = runtime_.rpc().Call(
        peer, InstallSnapshot{term, runtime_.self(), snapshot.last_index, snapshot.last_term,
                              snapshot.state.size(), received, std::string(chunk)});
    const Outcome outcome = call->Wait(kCatchUpTimeoutMax);
    runtime_.rpc().Release(*call);
    if (outcome != Outcome::kReady || !Leads(term)) return false;
    if (call->reply().term > term_) {
      BecomeFollower(call->reply().term);
      return false;
    }
    received = call->reply().received;
    if (received > snapshot.state.size()) return false;  // a nonsensical answer
  } while (received < snapshot.state.size());
  ProgressOf(peer).Acknowledged(snapshot.last_index);
  return true;
}

void Raft::HeartbeatLoop() {
  const std::uint64_t term = term_;
  runtime_.set_dependency(Dependency::Heartbeat());
  // The heartbeats that may still be answered. A distant follower's answers are late, not lost, and
  // one of them may bring a newer term.
  std::deque<Heartbeat> heartbeats;
  while (Leads(term)) {
    heartbeats.push_back(SendHeartbeat());
    runtime_.Sleep(kHeartbeatInterval);
    if (!Leads(term)) break;
    AdvanceCommit();  // answers, or our own disk, may have come after the end of their round
    if (heartbeats.size() < kHeartbeatsMax) continue;
    const bool in_reach = std::any_of(heartbeats.begin(), heartbeats.end(),
                                      [](const auto& each) { return each.quorum->Ready(); });
    if (!in_reach) BecomeFollower(term);  // clients must look for another leader
    heartbeats.front().calls.Release();
    heartbeats.pop_front();
  }
  for (Heartbeat& each : heartbeats) each.calls.Release();
}

Raft::Heartbeat Raft::SendHeartbeat() {
  BroadcastCalls calls(runtime_.rpc());
  auto quorum = AskWhoFollows(calls);
  return {std::move(calls), std::move(quorum)};
}

std::shared_ptr<QuorumEvent> Raft::AskWhoFollows(BroadcastCalls& calls) {
  const std::uint64_t term = term_;
  const auto quorum = QuorumEvent::Majority(runtime_.replicas());
  for (PeerId peer : runtime_.peers()) {
    const std::uint64_t known = std::max(ProgressOf(peer).match_index(), log_.base_index()) + 1;
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

void Raft::AdvanceCommit() {
  if (role_ != Role::kLeader) return;
  std::vector<std::uint64_t> matches;
  for (PeerId peer : runtime_.peers()) matches.push_back(ProgressOf(peer).match_index());
  matches.push_back(durable_index_);
  std::sort(matches.begin(), matches.end());
  const std::uint64_t majority = matches[(matches.size() - 1) / 2];
  // Entries of earlier terms commit only together with an entry of our term (section 5.4.2).
  if (majority > commit_index_ && TermAt(majority) == term_) CommitUpTo(majority);
}

// ---- reads ----

void Raft::ReadIndex(const Dependency& client, ReadDone done) {
  if (role_ != Role::kLeader) {
    done(false);
    return;
  }
  reads_.push_back({client, std::move(done)});
  returning_readers_.Add();
  StartConfirming();
}

void Raft::StartConfirming() {
  // Until an entry of our own term is committed, earlier leaders may have committed more than we
  // know.
  const bool knows_commits = TermAt(commit_index_) == term_;
  if (reads_.empty() || !knows_commits || std::exchange(confirming_, true)) return;
  runtime_.Spawn("confirm", [this] { ConfirmLeadership(); });
}

void Raft::ConfirmLeadership() {
  const std::uint64_t term = term_;
  while (Leads(term) && !reads_.empty()) {
    // Every command that we acknowledged before these reads came is applied. If a majority still
    // follows us after that, no other leader can have acknowledged more.
    const auto reads = std::exchange(reads_, {});
    runtime_.set_dependency(reads.front().client);
    BroadcastCalls calls(runtime_.rpc());
    const auto quorum = AskWhoFollows(calls);
    const bool confirmed = quorum->Wait(kElectionTimeoutMax) == Outcome::kReady;
    calls.Release();
    returning_readers_.Expect(reads.size());
    for (const PendingRead& read : reads) read.done(confirmed && Leads(term));
    returning_readers_.Wait();
  }
  confirming_ = false;
  if (role_ == Role::kLeader) StartConfirming();  // of a later term
}

// ---- replication, the follower's side ----

AppendEntriesReply Raft::OnAppendEntries(AppendEntries request) {
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

void Raft::TakeEntries(AppendEntries& request) {
  std::uint64_t index = request.prev_log_index + 1;
  auto entry = request.entries.begin();
  const auto is_here = [this](std::uint64_t at, std::uint64_t term) {
    return at <= log_.base_index() || (at <= last_index() && TermAt(at) == term);
  };
  while (entry != request.entries.end() && is_here(index, entry->term)) {
    ++entry, ++index;  // a duplicate, or a retry
  }
  if (entry != request.entries.end()) {
    assert(index > commit_index_ && "a committed entry is never replaced");
    log_.TruncateFrom(index);
    durable_index_ = std::min(durable_index_, index - 1);
    for (; entry != request.entries.end(); ++entry) log_.Append(std::move(*entry));
    PersistEntries(index);
  }
  CommitUpTo(std::min(request.leader_commit, request.prev_log_index + request.entries.size()));
}

void Raft::CommitUpTo(std::uint64_t index) {
  if (index <= commit_index_) return;
  const std::uint64_t first = commit_index_ + 1;
  commit_index_ = index;
  ObserveCommit(runtime_, commit_index_);
  const std::size_t were_waiting = waiting_.size();
  for (std::uint64_t i = first; i <= commit_index_; ++i) {
    if ((i - first) % kExpectedAtOnce == 0) ExpectFrom(i);
    const std::string result = Apply(i);
    if (waiting_.empty() || waiting_.front().index != i) continue;
    const SubmitDone done = std::move(waiting_.front().done);
    waiting_.pop_front();
    done({SubmitStatus::kCommitted, runtime_.self(), i, result});
  }
  returning_writers_.Expect(were_waiting - waiting_.size());
  CompactIfLarge();
  StartConfirming();
}

void Raft::ExpectFrom(std::uint64_t first) {
  std::array<std::string_view, kExpectedAtOnce> commands;
  const std::size_t count = std::min(commands.size(), commit_index_ + 1 - first);
  for (std::size_t i = 0; i < count; ++i) commands[i] = log_.At(first + i).command;
  machine_.Expect({commands.data(), count});
}

std::string Raft::Apply(std::uint64_t index) {
  const LogEntry& entry = log_.At(index);
  ObserveApply(runtime_, index, entry.term, entry.command);
  return entry.command.empty() ? "" : machine_.Apply(index, entry.command);
}

void Raft::FailWaiting(SubmitStatus status) {
  for (const Waiting& waiting : std::exchange(waiting_, {})) {
    waiting.done({status, leader_, waiting.index, ""});
  }
  for (const Pending& pending : std::exchange(pending_, {})) {
    if (pending.done) pending.done({SubmitStatus::kNotProposer, leader_, 0, ""});
  }
  for (const PendingRead& read : std::exchange(reads_, {})) read.done(false);
}

// ---- snapshots ----

void Raft::CompactIfLarge() {
  if (compacts_ || log_.bytes() <= compact_above_) return;
  std::uint64_t index = commit_index_;
  for (std::size_t kept = 0; index > log_.base_index() && kept < kRetainedBytes; --index) {
    kept += RaftLog::SizeOf(log_.At(index));
  }
  std::size_t goes = log_.bytes();
  for (std::uint64_t i = index + 1; i <= last_index(); ++i) {
    goes -= RaftLog::SizeOf(log_.At(i));
  }
  // The entries that stay are written again. Behind a long tail of uncommitted entries that would
  // cost much and free little, time after time.
  if (goes < log_.bytes() / 3) return;
  StartCompaction(index);
}

// From now on, every record of the log goes to its new file, too.
void Raft::StartCompaction(std::uint64_t new_base) {
  compacts_ = true;
  compaction_ = std::make_shared<Compaction>();
  compaction_->new_base = new_base;
  compaction_->snapshot = {commit_index_, TermAt(commit_index_), ""};
  compaction_->pieces = machine_.StartSnapshot();
  compaction_->records = EncodeWal({term_, voted_for_}, log_, new_base);
  runtime_.Spawn("compact", [this, compaction = compaction_] { Compact(compaction); });
}

void Raft::Compact(const std::shared_ptr<Compaction>& compaction) {
  runtime_.set_dependency({});  // a background task: no client asked for it
  if (!WritePieces(compaction)) {
    if (compaction_ == compaction) compaction_ = nullptr;  // the disk has failed
    return;
  }
  ReplaceFiles(*compaction);
  CutLog(compaction->new_base);
  compacts_ = false;
}

bool Raft::WritePieces(const std::shared_ptr<Compaction>& compaction) {
  Snapshot& snapshot = compaction->snapshot;
  // A string that grows step by step would be copied as often. Memory that is not used costs none.
  snapshot.state.reserve(2 * snapshot_.state.size());
  for (bool is_last = false; !is_last;) {
    if (compaction_ != compaction) return false;  // before this coroutine ran for the first time
    const std::string piece = compaction->pieces->Next(kPieceBytes);
    is_last = piece.empty();
    snapshot.state += piece;
    const Time from = runtime_.Now();
    std::ignore = runtime_.storage().Append(kNewWalFile, std::exchange(compaction->records, ""),
                                            Storage::Sync::kNo);
    const auto write = runtime_.storage().Append(
        kNewSnapshotFile, EncodeSnapshotPiece(snapshot, piece, is_last), Storage::Sync::kYes);
    if (write->Wait() != Outcome::kReady || compaction_ != compaction) return false;
    // Half of the disk's time is left to others, unless the log has outgrown its bound.
    if (log_.bytes() <= compact_above_ + kRetainedBytes) runtime_.Sleep(runtime_.Now() - from);
    if (compaction_ != compaction) return false;
  }
  return true;
}

// A write after a failed one fails, too: unless the snapshot is written, the log that needs it does
// not replace the old one.
void Raft::ReplaceFiles(Compaction& compaction) {
  snapshot_ = std::move(compaction.snapshot);
  compaction.pieces = nullptr;
  std::ignore = runtime_.storage().Rename(kNewSnapshotFile, kSnapshotFile);
  std::ignore =
      runtime_.storage().Append(kNewWalFile, std::move(compaction.records), Storage::Sync::kNo);
  last_write_ = runtime_.storage().Rename(kNewWalFile, kWalFile);
  compaction_ = nullptr;
  ChooseWhenToCompact();
}

// To free a long log takes long, so that is done in pieces, too.
void Raft::CutLog(std::uint64_t new_base) {
  while (log_.base_index() < new_base) {
    const std::uint64_t end = EndOfRequest(log_.base_index() + 1, kPieceBytes);
    log_.CompactUpTo(std::min(new_base, end - 1));
    runtime_.Sleep(kPause);
  }
}

void Raft::GiveUpCompaction() {
  if (compaction_ == nullptr) return;
  compaction_->pieces = nullptr;
  compaction_ = nullptr;
  compacts_ = false;
  // Its leftover files must not be the beginning of others.
  std::ignore = runtime_.storage().Remove(kNewSnapshotFile);
  std::ignore = runtime_.storage().Remove(kNewWalFile);
}

// If all replicas compacted at the same moment, all disks would be busy. A quorum hides one busy
// disk of three, not two.
void Raft::ChooseWhenToCompact() {
  const auto most = static_cast<std::int64_t>(CompactAboveBytes(snapshot_.state.size()));
  compact_above_ = static_cast<std::size_t>(runtime_.RandomBetween(most / 2, most));
}

// Replaces the files by a leader's snapshot.
void Raft::PersistSnapshot() {
  std::ignore =
      runtime_.storage().Append(kNewSnapshotFile, EncodeSnapshot(snapshot_), Storage::Sync::kYes);
  std::ignore = runtime_.storage().Rename(kNewSnapshotFile, kSnapshotFile);
}

void Raft::RestoreSnapshot() {
  machine_.Restore(snapshot_.state);
  commit_index_ = snapshot_.last_index;
  ObserveRestore(runtime_, snapshot_.last_index, snapshot_.last_term);
  ObserveCommit(runtime_, commit_index_);
}

InstallSnapshotReply Raft::OnInstallSnapshot(const InstallSnapshot& request) {
  if (request.term < term_) {
    AwaitDurable(term_write_);
    return {term_, 0};
  }
  if (request.term > term_ || role_ != Role::kFollower) BecomeFollower(request.term);
  leader_ = request.leader;
  last_heard_ = runtime_.Now();
  const bool superfluous = request.last_index <= commit_index_;
  if (!superfluous && TakeChunk(request)) InstallIncoming();
  const bool installed = request.last_index <= commit_index_;
  const std::uint64_t received = installed ? request.total_bytes : incoming_.snapshot.state.size();
  AwaitDurable(last_write_);
  return {term_, term_ == request.term ? received : 0};
}

bool Raft::TakeChunk(const InstallSnapshot& request) {
  Snapshot& snapshot = incoming_.snapshot;
  const bool goes_on = incoming_.term == request.term &&
                       snapshot.last_index == request.last_index &&
                       snapshot.last_term == request.last_term;
  if (!goes_on) incoming_ = {request.term, {request.last_index, request.last_term, ""}};
  if (request.offset == snapshot.state.size()) snapshot.state += request.data;
  return snapshot.state.size() == request.total_bytes;
}

void Raft::InstallIncoming() {
  GiveUpCompaction();
  snapshot_ = std::exchange(incoming_, {}).snapshot;
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

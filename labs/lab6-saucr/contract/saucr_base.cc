// The start, elections, beats, rounds and clients of a replica. saucr_base_behind.cc has the rest.
#include "saucr_base.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "quorum_event.h"
#include "saucr_rules.h"

namespace depfast::saucr {

// A submitted header with another constant of this name does not compile.
using depfast::kNobody;

namespace {

// Enough to keep disk and network busy, and few, so that many commands share a round.
constexpr std::size_t kRoundsMax = 2;
constexpr std::size_t kRoundBytesMax = std::size_t{256} << 10;
// A follower with more bytes than this in our memory has fallen behind, and so has one that does
// not answer a round, or a special request, in this time.
constexpr std::size_t kHeldBytesMax = std::size_t{64} << 10;
constexpr Duration kStragglerGrace = 100ms;
// A campaign's answers count for this time. The next campaign may ask for pre-votes meanwhile.
constexpr Duration kAnswersAwaited = 1s;

constexpr EntryIndex kNever = std::numeric_limits<EntryIndex>::max();

}  // namespace

// ---- start ----

SaucrBase::SaucrBase(Runtime& runtime, StateMachine& machine, SaucrOptions options)
    : runtime_(runtime),
      machine_(machine),
      quorums_(runtime.replicas()),
      beat_(options.beat),
      election_timeout_min_(std::max(kElectionTimeoutMin, kElectionBeats * options.beat)),
      election_timeout_max_(2 * election_timeout_min_),
      journal_(runtime),
      followers_(runtime) {}

void SaucrBase::Start() {
  RegisterHandlers();
  runtime_.rpc().WhenLost([this](PeerId peer) { OnLost(peer); });
  runtime_.Spawn("start", [this] {
    Recover();
    if (is_recovering_) RecoverLle();
    if (is_recovering_) return;
    runtime_.Spawn("silence", [this] { SilenceLoop(); });
    runtime_.Spawn("flush", [this] { FlushLoop(); });
    ElectionLoop();
  });
}

void SaucrBase::RegisterHandlers() {
  ServeUnlessRecovering(&SaucrBase::OnAppendEntries);
  ServeUnlessRecovering(&SaucrBase::OnInstallSnapshot);
  ServeUnlessRecovering(&SaucrBase::OnFetchLog);
  runtime_.rpc().Handle<RequestVote>(
      [this](PeerId, const RequestVote& request) { return OnRequestVote(request); });
  runtime_.rpc().Handle<LleQuery>([this](PeerId, const LleQuery& query) {
    started_->Wait();
    if (query.lives.size() != lives_.size()) throw std::invalid_argument("lives of another length");
    return OnLleQuery(query);
  });
}

template <typename Request>
void SaucrBase::ServeUnlessRecovering(
    typename Request::Reply (SaucrBase::*handler)(const Request&)) {
  runtime_.rpc().HandleInline<Request>(
      [this, handler](Request&& request, const Responder<typename Request::Reply>& responder) {
        if (!started_->IsReady() || is_recovering_) {
          unanswered_ = {request.term, request.leader, runtime_.Now()};
          return;
        }
        if constexpr (requires { request.lives; }) {
          if (request.lives.size() != lives_.size() || request.map.size() != map_.size()) {
            throw std::invalid_argument("a map, or lives, of another length");
          }
        }
        runtime_.Spawn(Request::kName, [this, handler, responder, request = std::move(request)] {
          runtime_.set_dependency(responder.dependency());
          responder.Send((this->*handler)(request));
        });
      });
}

void SaucrBase::Recover() {
  RecoverLog(journal_.Recover());
  is_recovering_ = !IsOnDisk(journal_.markers());
  ChooseWhenToCompact();
  ObserveRole(runtime_, term_, role_);
  ObserveRecovery(runtime_, is_recovering_ ? Recovery::kRecovering : Recovery::kOnDisk, last());
  if (!is_recovering_) BeginToListen();
  started_->Add();
}

void SaucrBase::BeginToListen() {
  const auto [term, leader, at] = unanswered_;
  if (leader != kNobody && term >= term_) HearLeader(term, leader);
  last_heard_ = leader_heard_ = leader_ == kNobody ? runtime_.Now() : at;
}

void SaucrBase::RecoverLog(Journal::Recovered recovered) {
  auto& [hard_state, log, markers, map, lives] = recovered.wal;
  const auto replicas = static_cast<std::size_t>(runtime_.replicas());
  term_ = hard_state.term;
  voted_for_ = hard_state.voted_for;
  term_sync_ = journal_.Sync();
  log_ = std::move(log);
  map_ = map.empty() ? LleMap(replicas) : std::move(map);
  lives_ = lives.empty() ? Lives(replicas) : std::move(lives);
  if (recovered.snapshot) {
    snapshot_ = *std::move(recovered.snapshot);
    RestoreSnapshot();
  }
  if (log_.base_index() > snapshot_.last_index) throw std::runtime_error("the log lacks entries");
  // A crash came after another replica's snapshot was installed, and before the log that continues
  // it.
  const EntryId restored{snapshot_.last_term, snapshot_.last_index};
  if (!log_.Knows(restored.index) || IdAt(restored.index) != restored) {
    log_.Reset(restored.index, restored.term);
    journal_.ForgetFrom(1);
    journal_.Replace(snapshot_, log_);
    journal_.Sync()->Wait();
  }
}

void SaucrBase::AwaitTerm() {
  std::uint64_t term = 0;
  do {  // again if we learned of a new term meanwhile: it is on its way to the disk
    term = term_;
    term_sync_->Wait();
  } while (term != term_);
}

void SaucrBase::WriteHardState() { term_sync_ = journal_.WriteHardState({term_, voted_for_}); }

void SaucrBase::MergeLives(const Lives& told) {
  for (std::size_t replica = 0; replica < lives_.size(); ++replica) {
    if (told[replica] <= lives_[replica]) continue;
    lives_[replica] = told[replica];
    if (role_ != Role::kLeader) continue;
    const auto peer = static_cast<PeerId>(replica);
    followers_.ForgetBuffered(peer);
    // It may be back before it misses a beat, and has lost what earlier rounds have sent.
    FallBehind(peer, followers_.Of(peer).agreed + 1);
  }
}

void SaucrBase::SetRecovered(EntryId lle) {
  is_recovering_ = false;
  recovered_ = last() >= lle ? EntryId() : lle;
  ObserveRecovery(runtime_, Recovery::kRecovered, std::max(lle, last()));
  if (role_ != Role::kLeader) BeginToListen();
}

void SaucrBase::Stop() {
  if (started_->IsReady() && !is_recovering_) BeginSilence();
}

// ---- elections ----

void SaucrBase::ElectionLoop() {
  for (;;) {
    const Duration patience = runtime_.RandomBetween(election_timeout_min_, election_timeout_max_);
    const auto is_over = [&] {
      return role_ != Role::kLeader && runtime_.Now() >= last_heard_ + patience;
    };
    while (!is_over()) {
      const Time from = role_ == Role::kLeader ? runtime_.Now() : last_heard_;
      runtime_.Sleep(from + patience - runtime_.Now());
      // If our disk still writes a vote, its candidate waits for us.
      if (is_over()) AwaitTerm();
    }
    last_heard_ = runtime_.Now();  // the next campaign comes a full timeout later
    runtime_.Spawn("campaign", [this] { Campaign(); });
  }
}

void SaucrBase::Campaign() {
  // A replica that campaigns forgets its leader. Otherwise the replicas of a bare majority could
  // refuse each other's pre-votes for ever.
  leader_ = kNobody;
  // Without the pre-vote a replica that was merely slow would depose a healthy leader.
  if (!AskForVotes(term_ + 1, /*pre_vote=*/true, kAnswersAwaited)) return;
  const std::uint64_t term = ++term_;
  role_ = Role::kCandidate;
  voted_for_ = runtime_.self();
  agreed_ = commit_index_;
  ObserveRole(runtime_, term_, role_);
  const Time from = runtime_.Now();
  WriteHardState();
  AwaitTerm();
  if (term_ != term) return;  // a newer term has come meanwhile
  // The voters' disks may be as slow as ours, and a vote may wait for the write before it.
  const Duration patience = kAnswersAwaited + 2 * (runtime_.Now() - from);
  last_heard_ = runtime_.Now() + patience - kAnswersAwaited;
  const auto votes = AskForVotes(term, /*pre_vote=*/false, patience);
  if (votes && role_ == Role::kCandidate) BecomeLeader(*votes);
}

std::optional<std::vector<SaucrBase::Vote>> SaucrBase::AskForVotes(std::uint64_t term,
                                                                   bool pre_vote,
                                                                   Duration patience) {
  Broadcast<RequestVote> calls(runtime_.rpc(), runtime_.peers(),
                               {term, runtime_.self(), lle(), pre_vote});
  const auto quorum = QuorumEvent::Majority(runtime_.replicas());
  const auto votes = std::make_shared<std::vector<Vote>>();
  for (const auto& call : calls.calls()) {
    quorum->Add(call, [this, pre_vote, votes, began = runtime_.Now(), &answered = *call] {
      const RequestVoteReply& reply = answered.reply();
      if (reply.term > term_) BecomeFollower(reply.term);
      if (!reply.granted || (pre_vote && yielded_ >= began)) return false;
      if (!pre_vote && reply.map.size() != map_.size()) return false;
      votes->push_back({answered.peer(), reply.map});
      return true;
    });
  }
  quorum->VoteYes(runtime_.replicas() - 1);  // our own vote
  quorum->Wait(patience);
  calls.Release();
  // A leader may have been heard of meanwhile: then there is nothing to campaign for.
  const bool won = quorum->Ready() && term_ + (pre_vote ? 1 : 0) == term && leader_ == kNobody;
  return won ? std::optional(*votes) : std::nullopt;
}

RequestVoteReply SaucrBase::OnRequestVote(const RequestVote& request) {
  started_->Wait();
  if (request.pre_vote) return OnPreVote(request);
  if (request.term > term_) BecomeFollower(request.term);
  const bool is_free = voted_for_ == kNobody || voted_for_ == request.candidate;
  const bool granted =
      request.term == term_ && is_free && GrantsVote(is_recovering_, lle(), request.lle);
  if (granted) {
    voted_for_ = request.candidate;
    WriteHardState();
  }
  AwaitTerm();
  if (!granted || term_ != request.term) return {term_, false, {}};
  last_heard_ = runtime_.Now();  // the candidate has not had our vote before
  return {term_, true, map_};
}

RequestVoteReply SaucrBase::OnPreVote(const RequestVote& request) {
  const bool leader_lives =
      role_ == Role::kLeader ||
      (leader_ != kNobody && runtime_.Now() < last_heard_ + election_timeout_min_);
  const bool granted =
      request.term > term_ && !leader_lives && GrantsVote(is_recovering_, lle(), request.lle);
  if (granted && request.candidate < runtime_.self()) yielded_ = runtime_.Now();
  AwaitTerm();  // the answer names our term
  return {term_, granted, {}};
}

void SaucrBase::BecomeFollower(std::uint64_t term) {
  if (term > term_) {
    term_ = term;
    voted_for_ = kNobody;
    leader_ = kNobody;
    agreed_ = commit_index_;
    WriteHardState();
  }
  if (role_ == Role::kLeader) {
    leader_ = kNobody;  // it was ourselves
    last_heard_ = leader_heard_ = runtime_.Now();
    silence_was_told_ = false;
  }
  role_ = Role::kFollower;
  ObserveRole(runtime_, term_, role_);
  for (const auto& [last, is_over] : rounds_) is_over->Set(1);
  FailWaiting(SubmitStatus::kUnknown);
}

void SaucrBase::BecomeLeader(const std::vector<Vote>& votes) {
  role_ = Role::kLeader;
  leader_ = runtime_.self();
  is_open_ = false;
  term_began_at_ = kNever;
  mode_ = {};  // R8
  ObserveRole(runtime_, term_, role_);
  ObserveMode(runtime_, term_, mode_.mode);
  followers_.BeginTerm(last_index(), {});
  std::vector<PeerId> voters;
  std::vector<LleMap> maps;
  for (const Vote& vote : votes) {
    voters.push_back(vote.voter);
    maps.push_back(vote.map);
  }
  OnElected(maps);
  runtime_.Spawn("beats", [this, term = term_] { BeatLoop(term); });
  runtime_.Spawn("open", [this, term = term_, voters] {
    runtime_.set_dependency({});
    const bool has_data = is_whole() || RecoverData();
    if (!Leads(term)) return;
    has_data ? OpenTerm(voters) : BecomeFollower(term);
  });
}

// The voters are up: they take part in rounds at once. Others do after they have answered.
void SaucrBase::OpenTerm(const std::vector<PeerId>& voters) {
  is_open_ = true;
  term_began_at_ = last_index() + 1;
  followers_.BeginTerm(last_index(), voters);
  for (const PeerId peer : runtime_.peers()) {
    if (!followers_.Of(peer).in_rounds) FallBehind(peer, term_began_at_);
  }
  // An entry of our own term, even an empty one, lets us commit the entries of earlier terms.
  pending_.push_back({"", {}, nullptr});
  StartRound();
}

void SaucrBase::HearLeader(std::uint64_t term, PeerId leader) {
  if (term > term_ || role_ != Role::kFollower) BecomeFollower(term);
  leader_ = leader;
  last_heard_ = leader_heard_ = runtime_.Now();
  silence_was_told_ = false;
}

// ---- beats, silence, flushes ----

void SaucrBase::BeatLoop(std::uint64_t term) {
  runtime_.set_dependency(Dependency::Heartbeat());
  while (Leads(term)) {
    Broadcast<AppendEntries> calls(runtime_.rpc(), runtime_.peers(), MakeBeat());
    followers_.SentBeat(calls);
    // A distant follower's answer is late, not lost, and may bring a newer term.
    NoteAnswers(calls, election_timeout_max_, /*fall_behind=*/false);
    runtime_.Sleep(beat_);
    if (Leads(term)) EndBeat();
  }
}

AppendEntries SaucrBase::MakeBeat() const {
  return {term_, runtime_.self(), {}, {}, commit_index_, mode_.mode, true, map_, lives_};
}

void SaucrBase::EndBeat() {
  const int functional = followers_.CountFunctional();
  for (const PeerId suspect : followers_.Suspects()) {
    FallBehind(suspect, followers_.Of(suspect).agreed + 1);
  }
  OnBeat(functional);
  Commit();
  if (!reads_.empty()) runtime_.Spawn("confirm", [this] { ConfirmReads(); });
  // Without a majority we step down: clients must look for another leader (R32).
  if (!followers_.HasMajoritySince(runtime_.Now() - election_timeout_max_, quorums_)) {
    BecomeFollower(term_);
  }
}

void SaucrBase::SetMode(const ModeState& mode) {
  const Mode before = std::exchange(mode_, mode).mode;
  if (before == mode.mode) return;
  ObserveMode(runtime_, term_, mode.mode);
  if (mode.mode == Mode::kSlow) ObserveFlush(runtime_, FlushReason::kSlow, last_index());
}

void SaucrBase::AskAllToFlush() {
  const EntryIndex end = last_index() + 1;
  ReleaseLater({runtime_.rpc(), followers_.InRounds(), MakeAppend(end, end)});
  runtime_.Spawn("own part", [this, own = journal_.latest_sync()] {
    own->Wait();
    Commit();
  });
}

void SaucrBase::SilenceLoop() {
  for (;;) {
    const Duration left = leader_heard_ + kSilentBeats * beat_ - runtime_.Now();
    if (role_ == Role::kLeader || silence_was_told_) {
      runtime_.Sleep(beat_);
    } else if (left > Duration(0)) {
      runtime_.Sleep(left);
    } else {
      BeginSilence();
    }
  }
}

void SaucrBase::BeginSilence() {
  silence_was_told_ = true;
  ObserveFlush(runtime_, FlushReason::kSilent, last_index());
  OnSilence();
}

void SaucrBase::FlushLoop() {
  for (;;) {
    runtime_.Sleep(kBackgroundFlush);
    if (!journal_.has_unsynced()) continue;
    ObserveFlush(runtime_, FlushReason::kBackground, last_index());
    FlushInBackground();
  }
}

// A broken connection is a missed beat (section 4).
void SaucrBase::OnLost(PeerId peer) {
  if (role_ != Role::kLeader) {
    if (peer == leader_ && !silence_was_told_) BeginSilence();
    return;
  }
  if (!followers_.Of(peer).in_rounds) return;
  FallBehind(peer, followers_.Of(peer).agreed + 1);
  const int functional = followers_.CountFunctional();
  if (functional < quorums_.fast()) OnBeat(functional);
}

// ---- clients ----

std::vector<PeerId> SaucrBase::proposers() const {
  return leader_ == kNobody ? std::vector<PeerId>() : std::vector<PeerId>{leader_};
}

void SaucrBase::Submit(std::string command, const Dependency& client, SubmitDone done) {
  const bool accepts = role_ == Role::kLeader && is_open_ && !command.empty();
  if (!accepts) return done({SubmitStatus::kNotProposer, leader_, 0, ""});
  pending_.push_back({std::move(command), client, std::move(done)});
  StartRound();
}

void SaucrBase::ReadIndex(const Dependency& client, ReadDone done) {
  if (role_ != Role::kLeader) return done(false);
  reads_.push_back({client, std::move(done)});
  // It runs after all messages of this step are handled: one confirmation for their reads.
  if (reads_.size() == 1) runtime_.Spawn("confirm", [this] { ConfirmReads(); });
}

// Every command that we acknowledged before these reads came is applied. If a majority still
// follows us after that, no other leader can have acknowledged more. But until an entry of our own
// term is committed, earlier leaders may have committed more than we know.
void SaucrBase::ConfirmReads() {
  if (role_ != Role::kLeader || reads_.empty() || commit_index_ < term_began_at_) return;
  const std::uint64_t term = term_;
  const auto reads = std::exchange(reads_, {});
  runtime_.set_dependency(reads.front().client);
  Broadcast<AppendEntries> calls(runtime_.rpc(), runtime_.peers(), MakeBeat());
  const auto quorum = QuorumEvent::Majority(runtime_.replicas());
  for (const auto& call : calls.calls()) {
    quorum->Add(call, [this, term, &answered = *call] {
      return Leads(term) && NoteReply(answered.peer(), answered.reply());
    });
  }
  quorum->VoteYes(runtime_.replicas() - 1);
  const bool confirmed = quorum->Wait(election_timeout_max_) == Outcome::kReady && Leads(term);
  for (const PendingRead& read : reads) read.done(confirmed);
  calls.Release();
}

void SaucrBase::FailWaiting(SubmitStatus status) {
  for (const auto& [index, done] : std::exchange(waiting_, {})) done({status, leader_, index, ""});
  for (const Pending& pending : std::exchange(pending_, {})) {
    if (pending.done) pending.done({SubmitStatus::kNotProposer, leader_, 0, ""});
  }
  for (const PendingRead& read : std::exchange(reads_, {})) read.done(false);
}

// ---- rounds ----

void SaucrBase::StartRound() {
  if (pending_.empty() || round_starting_ || rounds_.size() >= kRoundsMax) return;
  // The coroutine runs after all messages of this step are handled: one round for their commands.
  round_starting_ = true;
  runtime_.Spawn("replicate", [this] { NextRound(); });
}

void SaucrBase::NextRound() {
  round_starting_ = false;
  if (role_ != Role::kLeader || pending_.empty()) return;
  const EntryIndex first = last_index() + 1;
  AppendPending();
  const Round round = NameRound(first);
  Replicate(round);
  rounds_.erase(round.last());
  StartRound();
}

void SaucrBase::AppendPending() {
  // The round's messages name the client of the first command: a round has one dependency.
  runtime_.set_dependency(pending_.front().client);
  std::size_t bytes = 0;
  auto next = pending_.begin();
  for (; next != pending_.end() && bytes < kRoundBytesMax; ++next) {
    log_.Append({term_, std::move(next->command)});
    if (next->done) waiting_[last_index()] = std::move(next->done);
    bytes += RaftLog::SizeOf(log_.At(last_index()));
  }
  pending_.erase(pending_.begin(), next);
}

Round SaucrBase::NameRound(EntryIndex first) {
  for (const PeerId peer : followers_.InRounds()) {
    if (runtime_.HeldBytes(peer) > kHeldBytesMax) FallBehind(peer, first);
  }
  const auto is_over = std::make_shared<IntEvent>("committed", 1);
  const Round round{first, last_index() + 1, followers_.InRounds(), is_over};
  rounds_[round.last()] = is_over;
  followers_.Name(round.named, round.first, round.end);
  followers_.Name({runtime_.self()}, round.first, round.end);
  return round;
}

AppendEntries SaucrBase::MakeAppend(EntryIndex first, EntryIndex end) const {
  return {term_,         runtime_.self(), IdAt(first - 1), log_.Slice(first, end),
          commit_index_, mode_.mode,      false,           map_,
          lives_};
}

bool SaucrBase::NoteReply(PeerId peer, const AppendEntriesReply& reply) {
  if (reply.term > term_) BecomeFollower(reply.term);
  if (!Leads(reply.term) || reply.lives.size() != lives_.size()) return false;
  MergeLives(reply.lives);
  followers_.Of(peer).answered_at = runtime_.Now();
  if (reply.success) {
    followers_.Note(peer, reply, lives_);
  } else {
    FallBehind(peer, reply.conflict);  // the logs may agree before that entry
  }
  ServeIfBehind(peer);
  return reply.success;
}

void SaucrBase::NoteAnswers(const Broadcast<AppendEntries>& calls, Duration patience,
                            bool fall_behind) {
  if (calls.size() == 0) return;
  const auto answers = std::make_shared<QuorumEvent>(1, static_cast<int>(calls.size()));
  for (const auto& call : calls.calls()) {
    answers->Add(call, [this, &answered = *call] {
      if (NoteReply(answered.peer(), answered.reply())) Commit();
      return true;
    });
  }
  runtime_.Spawn("answers",
                 [this, released = calls, answers, patience, fall_behind, term = term_]() mutable {
                   runtime_.set_dependency({});  // no client's: this delays nobody
                   runtime_.Sleep(patience);     // `answers` must live until then
                   const auto stragglers = released.Stragglers();
                   released.Release();
                   if (!fall_behind || !Leads(term)) return;
                   for (const PeerId peer : stragglers)
                     FallBehind(peer, followers_.Of(peer).agreed + 1);
                 });
}

void SaucrBase::ReleaseLater(const Broadcast<AppendEntries>& calls) {
  NoteAnswers(calls, kStragglerGrace, /*fall_behind=*/true);
}

void SaucrBase::Commit() {
  if (role_ != Role::kLeader) return;
  followers_.NoteOwnDisk(journal_.durable_index());
  AdvanceCommit(CommittedUpTo(term_began_at_, acks(), lives_, quorums_));
}

void SaucrBase::AdvanceCommit(EntryIndex index) {
  if (role_ == Role::kLeader && is_open_) CommitUpTo(std::min(index, last_index()));
}

void SaucrBase::CommitUpTo(EntryIndex index) {
  if (index <= commit_index_) return;
  const EntryIndex first = std::exchange(commit_index_, index) + 1;
  ObserveCommit(runtime_, commit_index_);
  for (EntryIndex i = first; i <= commit_index_; ++i) {
    const LogEntry& entry = log_.At(i);
    ObserveApply(runtime_, i, entry.term, entry.command);
    const std::string result = entry.command.empty() ? "" : machine_.Apply(i, entry.command);
    const auto client = waiting_.extract(i);
    if (client) client.mapped()({SubmitStatus::kCommitted, runtime_.self(), i, result});
  }
  for (const auto& [last, is_over] : rounds_) {
    if (last <= commit_index_) is_over->Set(1);
  }
  CompactIfLarge();
}

// ---- the follower's side ----

AppendEntriesReply SaucrBase::OnAppendEntries(const AppendEntries& request) {
  AppendEntriesReply reply = Refuse(0);
  if (request.term >= term_) {
    HearLeader(request.term, request.leader);
    MergeLives(request.lives);
    const EntryIndex conflict = request.beat ? 0 : ConflictWith(request.prev);
    if (conflict == 0) {
      if (!request.beat) agreed_ = std::max(agreed_, request.prev.index);
      CommitUpTo(std::min(request.leader_commit, agreed_));
      reply = TakeEntries(request);
    } else {
      reply = Refuse(conflict);
    }
  }
  AwaitTerm();  // the answer names our term
  if (term_ != request.term) return Refuse(commit_index_ + 1);
  reply.term = term_;
  return reply;
}

AppendEntriesReply SaucrBase::Refuse(EntryIndex conflict) const {
  return {term_, false, 0, 0, conflict, life(), lives_};
}

EntryIndex SaucrBase::ConflictWith(EntryId prev) const {
  if (prev.index > last_index()) return last_index() + 1;
  if (prev.index < log_.base_index() || IdAt(prev.index) == prev) return 0;
  // Skip the whole conflicting term at once (Raft, section 5.3, fast backtracking).
  const std::uint64_t term = log_.TermAt(prev.index);
  EntryIndex conflict = prev.index;
  while (conflict > commit_index_ + 1 && log_.TermAt(conflict - 1) == term) --conflict;
  return conflict;
}

std::vector<EntryId> SaucrBase::AppendNew(const AppendEntries& request) {
  const auto appended = AppendFrom(request.prev.index + 1, request.entries);
  agreed_ = std::max(agreed_, request.Last());
  CommitUpTo(std::min(request.leader_commit, agreed_));
  return appended;
}

std::vector<EntryId> SaucrBase::AppendFrom(EntryIndex first, const std::vector<LogEntry>& entries) {
  std::vector<EntryId> appended;
  for (EntryIndex index = first; const LogEntry& entry : entries) {
    const EntryId id{entry.term, index++};
    if (id.index <= log_.base_index()) continue;
    if (id.index <= last_index() && IdAt(id.index) == id) continue;  // a duplicate, or a retry
    if (id.index <= commit_index_) throw std::logic_error("a committed entry would be replaced");
    log_.TruncateFrom(id.index);
    log_.Append(entry);
    appended.push_back(id);
  }
  if (!appended.empty()) journal_.WriteEntries(log_, appended.front().index);
  if (is_whole()) recovered_ = {};
  return appended;
}

AppendEntriesReply SaucrBase::Answer(EntryIndex match) const {
  return {term_, true, match, std::min(match, journal_.durable_index()), 0, life(), lives_};
}

}  // namespace depfast::saucr

#include "rounds.h"

#include <algorithm>
#include <utility>

#include "majority.h"
#include "reply_listener.h"
#include "saucr_rules.h"

namespace depfast::saucr {
namespace {

// Enough to keep disk and network busy, and few, so that many commands share a round.
constexpr std::size_t kRoundsMax = 2;
constexpr std::size_t kRoundBytesMax = std::size_t{256} << 10;
// A follower with more bytes than this in our memory has fallen behind.
constexpr std::size_t kHeldBytesMax = std::size_t{64} << 10;

}  // namespace

Rounds::Rounds(ReplicaState& state, Elections& elections, Leadership& leadership, CatchUp& catch_up,
               Commits& commits, SaucrHooks& hooks)
    : state_(state),
      elections_(elections),
      leadership_(leadership),
      catch_up_(catch_up),
      commits_(commits),
      hooks_(hooks) {}

// ---- a term ----

void Rounds::Open(const std::vector<PeerId>& voters) {
  leadership_.Open(voters);
  // Others than the voters take part after they have answered.
  for (const PeerId peer : state_.runtime.peers()) {
    if (leadership_.followers().Of(peer).in_rounds) continue;
    catch_up_.FallBehind(peer, leadership_.term_began_at());
  }
  // An entry of our own term, even an empty one, lets us commit the entries of earlier terms.
  Enqueue({"", {}, nullptr});
}

void Rounds::GiveUp() {
  const PeerId leader = elections_.leader();
  commits_.GiveUp(leader);
  for (const Pending& pending : std::exchange(pending_, {})) {
    if (pending.done) pending.done({SubmitStatus::kNotProposer, leader, 0, ""});
  }
  for (const PendingRead& read : std::exchange(reads_, {})) read.done(false);
}

// ---- rounds ----

void Rounds::Submit(std::string command, const Dependency& client, ReplicatedLog::SubmitDone done) {
  const bool accepts = elections_.leads() && leadership_.is_open() && !command.empty();
  if (!accepts) return done({SubmitStatus::kNotProposer, elections_.leader(), 0, ""});
  Enqueue({std::move(command), client, std::move(done)});
}

void Rounds::Enqueue(Pending pending) {
  pending_.push_back(std::move(pending));
  StartRound();
}

void Rounds::StartRound() {
  if (pending_.empty() || round_starting_ || commits_.rounds() >= kRoundsMax) return;
  // The coroutine runs after all messages of this step are handled: one round for their commands.
  round_starting_ = true;
  state_.runtime.Spawn("replicate", [this] { NextRound(); });
}

void Rounds::NextRound() {
  round_starting_ = false;
  if (!elections_.leads() || pending_.empty()) return;
  const EntryIndex first = state_.last_index() + 1;
  AppendPending();
  const Round round = NameRound(first);
  hooks_.Replicate(round);
  commits_.EndRound(round.last());
  StartRound();
}

void Rounds::AppendPending() {
  // The round's messages name the client of the first command: a round has one dependency.
  state_.runtime.set_dependency(pending_.front().client);
  std::size_t bytes = 0;
  auto next = pending_.begin();
  for (; next != pending_.end() && bytes < kRoundBytesMax; ++next) {
    state_.log.Append({elections_.term(), std::move(next->command)});
    if (next->done) commits_.Await(state_.last_index(), std::move(next->done));
    bytes += RaftLog::SizeOf(state_.log.At(state_.last_index()));
  }
  pending_.erase(pending_.begin(), next);
}

Round Rounds::NameRound(EntryIndex first) {
  Followers& followers = leadership_.followers();
  for (const PeerId peer : followers.InRounds()) {
    if (state_.runtime.HeldBytes(peer) > kHeldBytesMax) catch_up_.FallBehind(peer, first);
  }
  const EntryIndex last = state_.last_index();
  const Round round{first, last + 1, followers.InRounds(), commits_.BeginRound(last)};
  followers.Name(round.named, round.first, round.end);
  followers.Name({state_.runtime.self()}, round.first, round.end);
  return round;
}

// ---- answers ----

bool Rounds::NoteReply(PeerId peer, const AppendEntriesReply& reply) {
  elections_.Know(reply.term);
  if (!elections_.Leads(reply.term) || reply.lives.size() != state_.lives.size()) return false;
  MergeLives(reply.lives);
  leadership_.followers().Of(peer).answered_at = state_.runtime.Now();
  if (reply.success) {
    leadership_.followers().Note(peer, reply, state_.lives);
  } else {
    catch_up_.FallBehind(peer, reply.conflict);  // the logs may agree before that entry
  }
  catch_up_.ServeIfBehind(peer);
  return reply.success;
}

void Rounds::MergeLives(const Lives& told) {
  for (std::size_t replica = 0; replica < state_.lives.size(); ++replica) {
    if (told[replica] <= state_.lives[replica]) continue;
    state_.lives[replica] = told[replica];
    if (!elections_.leads()) continue;
    const auto peer = static_cast<PeerId>(replica);
    leadership_.followers().ForgetBuffered(peer);
    // It may be back before it misses a beat, and has lost what earlier rounds have sent.
    catch_up_.FallBehind(peer);
  }
}

void Rounds::NoteAnswers(const Broadcast<AppendEntries>& calls, Duration patience,
                         bool fall_behind) {
  if (calls.size() == 0) return;
  const auto answers =
      ReplyListener<AppendEntries>::To(calls, [this](PeerId peer, const AppendEntriesReply& reply) {
        if (NoteReply(peer, reply)) Commit();
      });
  const auto wait = [this, released = calls, answers, patience, fall_behind,
                     term = elections_.term()]() mutable {
    state_.runtime.set_dependency({});  // no client's: this delays nobody
    state_.runtime.Sleep(patience);     // `answers` must live until then
    const auto stragglers = released.Stragglers();
    released.Release();
    if (!fall_behind || !elections_.Leads(term)) return;
    for (const PeerId peer : stragglers) catch_up_.FallBehind(peer);
  };
  state_.runtime.Spawn("answers", wait);
}

void Rounds::Commit() {
  if (!elections_.leads()) return;
  Followers& followers = leadership_.followers();
  followers.NoteOwnDisk(state_.journal.durable_index());
  AdvanceCommit(
      CommittedUpTo(leadership_.term_began_at(), followers.acks(), state_.lives, state_.quorums));
}

void Rounds::AdvanceCommit(EntryIndex index) {
  if (!elections_.leads() || !leadership_.is_open()) return;
  commits_.UpTo(std::min(index, state_.last_index()));
}

// ---- reads ----

void Rounds::ReadIndex(const Dependency& client, ReplicatedLog::ReadDone done) {
  if (!elections_.leads()) return done(false);
  reads_.push_back({client, std::move(done)});
  // It runs after all messages of this step are handled: one confirmation for their reads.
  if (reads_.size() == 1) ConfirmSoon();
}

void Rounds::ConfirmSoon() {
  if (!reads_.empty()) state_.runtime.Spawn("confirm", [this] { ConfirmReads(); });
}

// Every command that we acknowledged before these reads came is applied. If a majority still
// follows us after that, no other leader can have acknowledged more. But until an entry of our own
// term is committed, earlier leaders may have committed more than we know.
void Rounds::ConfirmReads() {
  const bool knows_all = state_.commit_index >= leadership_.term_began_at();
  if (!elections_.leads() || reads_.empty() || !knows_all) return;
  const std::uint64_t term = elections_.term();
  const auto reads = std::exchange(reads_, {});
  Runtime& runtime = state_.runtime;
  runtime.set_dependency(reads.front().client);
  Broadcast<AppendEntries> calls(runtime.rpc(), runtime.peers(), leadership_.MakeBeat());
  std::vector<Voter> others;
  for (const auto& call : calls.calls()) {
    others.push_back({call, [this, term, &answered = *call] {
                        return elections_.Leads(term) &&
                               NoteReply(answered.peer(), answered.reply());
                      }});
  }
  const Outcome outcome = MajorityWith(others)->Wait(state_.election_timeout_max);
  const bool confirmed = outcome == Outcome::kReady && elections_.Leads(term);
  for (const PendingRead& read : reads) read.done(confirmed);
  calls.Release();
}

}  // namespace depfast::saucr

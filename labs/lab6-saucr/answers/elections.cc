#include "elections.h"

#include <utility>

#include "depfast/broadcast.h"
#include "majority.h"
#include "saucr_rules.h"

namespace depfast::saucr {
namespace {

// A campaign's answers count for this time. The next campaign may ask for pre-votes meanwhile.
constexpr Duration kAnswersAwaited = 1s;

}  // namespace

// ---- start ----

void Elections::Recover(const HardState& disk) {
  term_ = disk.term;
  voted_for_ = disk.voted_for;
  term_sync_ = state_.journal.Sync();
}

void Elections::Begin(const SignOfLife& unanswered) {
  const auto [term, leader, at] = unanswered;
  if (leader != kNobody && term >= term_) HearLeader(term, leader);
  last_heard_ = leader_heard_ = leader_ == kNobody ? Now() : at;
}

void Elections::AwaitTerm() {
  std::uint64_t term = 0;
  do {  // again if we learned of a new term meanwhile: it is on its way to the disk
    term = term_;
    term_sync_->Wait();
  } while (term != term_);
}

// ---- campaigns ----

void Elections::Loop() {
  for (;;) {
    const Duration patience =
        state_.runtime.RandomBetween(state_.election_timeout_min, state_.election_timeout_max);
    const auto is_over = [&] { return !leads() && Now() >= last_heard_ + patience; };
    while (!is_over()) {
      const Time from = leads() ? Now() : last_heard_;
      state_.runtime.Sleep(from + patience - Now());
      // If our disk still writes a vote, its candidate waits for us.
      if (is_over()) AwaitTerm();
    }
    last_heard_ = Now();  // the next campaign comes a full timeout later
    state_.runtime.Spawn("campaign", [this] { Campaign(); });
  }
}

void Elections::Campaign() {
  // A replica that campaigns forgets its leader. Otherwise the replicas of a bare majority could
  // refuse each other's pre-votes for ever.
  leader_ = kNobody;
  // Without the pre-vote a replica that was merely slow would depose a healthy leader.
  if (!AskForVotes(term_ + 1, /*pre_vote=*/true, kAnswersAwaited)) return;
  const std::uint64_t term = ++term_;
  role_ = Role::kCandidate;
  voted_for_ = state_.runtime.self();
  state_.agreed = state_.commit_index;
  ObserveRole(state_.runtime, term_, role_);
  const Time from = Now();
  WriteHardState();
  AwaitTerm();
  if (term_ != term) return;  // a newer term has come meanwhile
  // The voters' disks may be as slow as ours, and a vote may wait for the write before it.
  const Duration patience = kAnswersAwaited + 2 * (Now() - from);
  last_heard_ = Now() + patience - kAnswersAwaited;
  const auto votes = AskForVotes(term, /*pre_vote=*/false, patience);
  if (votes && role_ == Role::kCandidate) Lead(*votes);
}

std::optional<std::vector<Vote>> Elections::AskForVotes(std::uint64_t term, bool pre_vote,
                                                        Duration patience) {
  Runtime& runtime = state_.runtime;
  Broadcast<RequestVote> calls(runtime.rpc(), runtime.peers(),
                               {term, runtime.self(), state_.lle(), pre_vote});
  const auto votes = std::make_shared<std::vector<Vote>>();
  std::vector<Voter> others;
  for (const auto& call : calls.calls()) {
    others.push_back({call, [this, pre_vote, votes, began = Now(), &answered = *call] {
                        if (!Counts(answered.reply(), pre_vote, began)) return false;
                        votes->push_back({answered.peer(), answered.reply().map});
                        return true;
                      }});
  }
  const auto quorum = MajorityWith(others);
  quorum->Wait(patience);
  calls.Release();
  // A leader may have been heard of meanwhile: then there is nothing to campaign for.
  const bool won = quorum->IsReady() && term_ + (pre_vote ? 1 : 0) == term && leader_ == kNobody;
  return won ? std::optional(*votes) : std::nullopt;
}

bool Elections::Counts(const RequestVoteReply& reply, bool pre_vote, Time asked) {
  Know(reply.term);
  if (!reply.granted || (pre_vote && yielded_ >= asked)) return false;
  return pre_vote || reply.map.size() == state_.map.size();
}

// ---- votes ----

RequestVoteReply Elections::OnRequestVote(const RequestVote& request) {
  if (request.pre_vote) return OnPreVote(request);
  Know(request.term);
  const bool is_free = voted_for_ == kNobody || voted_for_ == request.candidate;
  const bool granted = request.term == term_ && is_free &&
                       GrantsVote(state_.is_recovering, state_.lle(), request.lle);
  if (granted) {
    voted_for_ = request.candidate;
    WriteHardState();
  }
  AwaitTerm();
  if (!granted || term_ != request.term) return {term_, false, {}};
  last_heard_ = Now();  // the candidate has not had our vote before
  return {term_, true, state_.map};
}

RequestVoteReply Elections::OnPreVote(const RequestVote& request) {
  const bool leader_lives =
      leads() || (leader_ != kNobody && Now() < last_heard_ + state_.election_timeout_min);
  const bool granted = request.term > term_ && !leader_lives &&
                       GrantsVote(state_.is_recovering, state_.lle(), request.lle);
  if (granted && request.candidate < state_.runtime.self()) yielded_ = Now();
  AwaitTerm();  // the answer names our term
  return {term_, granted, {}};
}

// ---- roles ----

void Elections::Follow(std::uint64_t term) {
  if (term > term_) {
    term_ = term;
    voted_for_ = kNobody;
    leader_ = kNobody;
    state_.agreed = state_.commit_index;
    WriteHardState();
  }
  if (leads()) {
    leader_ = kNobody;  // it was ourselves
    last_heard_ = leader_heard_ = Now();
    silence_was_told_ = false;
  }
  role_ = Role::kFollower;
  ObserveRole(state_.runtime, term_, role_);
  user_.OnFollows();
}

void Elections::Lead(const std::vector<Vote>& votes) {
  role_ = Role::kLeader;
  leader_ = state_.runtime.self();
  ObserveRole(state_.runtime, term_, role_);
  user_.OnElected(votes);
}

void Elections::HearLeader(std::uint64_t term, PeerId leader) {
  if (term > term_ || role_ != Role::kFollower) Follow(term);
  leader_ = leader;
  last_heard_ = leader_heard_ = Now();
  silence_was_told_ = false;
}

std::optional<Time> Elections::SilentSince() const {
  return leads() || silence_was_told_ ? std::nullopt : std::optional(leader_heard_);
}

}  // namespace depfast::saucr

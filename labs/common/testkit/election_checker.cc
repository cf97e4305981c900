#include "election_checker.h"

#include <algorithm>
#include <bit>

#include "log_names.h"

namespace depfast {
namespace {

std::string Milliseconds(Duration duration) {
  return std::to_string(duration / std::chrono::milliseconds(1)) + " ms";
}

}  // namespace

ElectionChecker::ElectionChecker(const sim::GroupView& group, Duration timeout_min, Violate violate)
    : group_(group),
      timeout_min_(timeout_min),
      violate_(std::move(violate)),
      replicas_(static_cast<std::size_t>(group.replicas())) {}

void ElectionChecker::OnRestart(PeerId replica, Time now, std::uint64_t disk_term) {
  terms_begun_ = std::max(terms_begun_, disk_term);
  Replica fresh;
  fresh.said_term = fresh.promised_term = std::max(At(replica).promised_term, disk_term);
  fresh.told_term = std::max(At(replica).told_term, disk_term);
  fresh.step = now;
  fresh.waits_since = now;
  At(replica) = std::move(fresh);
}

// A leader of an earlier term is a leader no more.
void ElectionChecker::Tell(Replica& replica, std::uint64_t term) {
  if (term <= replica.told_term) return;
  replica.told_term = term;
  replica.leader_heard.reset();
}

// ---- what a replica is told ----

ElectionChecker::Asked ElectionChecker::OnAsked(PeerId replica, const VoteRequest& request) {
  Replica& asked = At(replica);
  if (!request.pre_vote) {
    terms_begun_ = std::max(terms_begun_, request.term);
    Tell(asked, request.term);
  }
  const bool leads = asked.role == ElectionRole::kLeader;
  const bool follows = asked.leader_heard && asked.step - *asked.leader_heard < timeout_min_;
  if (request.pre_vote && (leads || follows)) ++situations_.pre_votes_under_a_leader;
  return {request, asked.step, leads ? asked.term : 0, asked.leader_heard};
}

void ElectionChecker::OnLeaderMessage(PeerId replica, std::uint64_t term) {
  terms_begun_ = std::max(terms_begun_, term);
  Replica& told = At(replica);
  Tell(told, term);
  if (term < told.told_term) return;  // a leader of an old term resets no timer
  told.leader_heard = told.step;
  told.waits_since = told.step;
}

void ElectionChecker::OnVoteAnswered(PeerId replica, PeerId voter, CallId call, std::uint64_t term,
                                     bool granted) {
  Replica& candidate = At(replica);
  Tell(candidate, term);
  const auto asked = candidate.sent.find({voter, call});
  if (asked == candidate.sent.end() || !granted) return;
  candidate.grants[{asked->second.term, asked->second.pre_vote}] |= std::uint64_t{1} << voter;
}

// ---- what a replica says ----

void ElectionChecker::OnTerm(PeerId replica, std::uint64_t term, bool campaigns) {
  if (term > terms_begun_ + (campaigns ? 1 : 0)) {
    violate_(ElectionRule::kTermsBeginByCampaign,
             Name(replica) + " is in term " + std::to_string(term) +
                 ", and no candidate has begun a term after " + std::to_string(terms_begun_),
             {});
  }
  terms_begun_ = std::max(terms_begun_, term);
}

void ElectionChecker::OnMessage(PeerId replica, std::uint64_t term, bool campaigns, bool promises) {
  OnTerm(replica, term, campaigns);
  std::uint64_t& said = At(replica).said_term;
  if (term < said) {
    violate_(ElectionRule::kTermsGoForward,
             Name(replica) + " sends a message of term " + std::to_string(term) +
                 " after one of term " + std::to_string(said),
             {});
  }
  said = std::max(said, term);
  if (promises) At(replica).promised_term = said;
}

void ElectionChecker::OnRole(PeerId replica, std::uint64_t term, ElectionRole role) {
  const std::uint64_t before = std::max(At(replica).term, At(replica).said_term);
  if (term < before) {
    violate_(ElectionRule::kTermsGoForward,
             Name(replica) + " goes back from term " + std::to_string(before) + " to term " +
                 std::to_string(term),
             {});
  }
  OnTerm(replica, term, role == ElectionRole::kCandidate);
  Replica& claims = At(replica);
  const bool campaigns = role == ElectionRole::kCandidate && term > claims.term;
  // A message of the same step may have come after the decision.
  const bool heard = claims.leader_heard && *claims.leader_heard < claims.step;
  const bool is_licensed = term == claims.licence;
  if (campaigns && is_licensed) claims.waits_since = claims.step;
  if (campaigns && heard && !is_licensed && claims.step - *claims.leader_heard < timeout_min_) {
    violate_(ElectionRule::kElectionTimeoutPassed,
             Name(replica) + " campaigns in term " + std::to_string(term) + ", " +
                 Milliseconds(claims.step - *claims.leader_heard) +
                 " after a message of its leader",
             {});
  }
  if (claims.role == ElectionRole::kLeader && role != ElectionRole::kLeader)
    claims.waits_since = claims.step;
  Tell(claims, term);
  claims.term = term;
  claims.role = role;
}

int ElectionChecker::Grants(const Replica& replica, std::uint64_t term, bool pre_vote) const {
  const auto granted = replica.grants.find({term, pre_vote});
  return 1 + (granted == replica.grants.end() ? 0 : std::popcount(granted->second));
}

bool ElectionChecker::OnLeads(PeerId replica, std::uint64_t term, Time now) {
  const auto [leader, is_first] = leaders_.emplace(term, Seen{replica, now});
  if (const Seen& first = leader->second; first.replica != replica) {
    violate_(
        ElectionRule::kOneLeader,
        Name(first.replica) + " and " + Name(replica) + " both lead term " + std::to_string(term),
        {{group_.AddressOf(first.replica), first.at, true,
          Name(first.replica) + " began to lead after this."}});
  }
  if (is_first) CheckVotes(replica, term);
  return is_first;
}

PeerId ElectionChecker::LeaderOf(std::uint64_t term) const {
  const auto leader = leaders_.find(term);
  return leader == leaders_.end() ? kNobody : leader->second.replica;
}

void ElectionChecker::OnVote(PeerId voter, std::uint64_t term, PeerId candidate, Time now) {
  const auto vote = votes_.emplace(std::pair{voter, term}, Seen{candidate, now}).first;
  const Seen& first = vote->second;
  if (first.replica == candidate) return;
  violate_(ElectionRule::kOneVote,
           Name(voter) + " votes in term " + std::to_string(term) + " for " + Name(first.replica) +
               " and for " + Name(candidate),
           {{group_.AddressOf(voter), first.at, false,
             "The first vote of " + Name(voter) + " in this term."}});
}

void ElectionChecker::OnVoteOnDisk(PeerId voter, std::uint64_t term, PeerId candidate, Time now) {
  if (candidate != kNobody) return OnVote(voter, term, candidate, now);
  if (!votes_.contains({voter, term})) return;
  violate_(ElectionRule::kOneVote,
           Name(voter) + " removes its vote of term " + std::to_string(term) + " from its disk",
           {});
}

void ElectionChecker::CheckVotes(PeerId leader, std::uint64_t term) {
  const int votes = Grants(At(leader), term, /*pre_vote=*/false);
  if (IsMajority(votes)) return;
  violate_(ElectionRule::kLeaderHasVotes,
           Name(leader) + " leads term " + std::to_string(term) + " with " + std::to_string(votes) +
               " of " + std::to_string(replicas_.size()) + " votes",
           {});
}

void ElectionChecker::OnSentVoteRequest(PeerId replica, PeerId to, CallId call,
                                        const VoteRequest& request) {
  Replica& candidate = At(replica);
  candidate.sent[{to, call}] = request;
  if (request.pre_vote) {
    OnCampaign(replica);
    return;
  }
  const int votes = Grants(candidate, request.term, /*pre_vote=*/true);
  if (IsMajority(votes) || request.term == candidate.licence) return;
  violate_(ElectionRule::kCampaignHasPreVotes,
           Name(replica) + " asks for votes of term " + std::to_string(request.term) + " with " +
               std::to_string(votes) + " of " + std::to_string(replicas_.size()) + " pre-votes",
           {});
}

void ElectionChecker::OnCampaign(PeerId replica) {
  Replica& candidate = At(replica);
  // This campaign's next request, or a message of the step that came after the decision.
  if (candidate.waits_since == candidate.step) return;
  const Duration waited = candidate.step - candidate.waits_since;
  candidate.waits_since = candidate.step;
  campaigns_.push_back({replica, waited});
  if (waited >= timeout_min_) return;
  violate_(ElectionRule::kElectionTimeoutPassed,
           Name(replica) + " asks for pre-votes " + Milliseconds(waited) +
               " after its election timeout began",
           {});
}

void ElectionChecker::OnVoteReply(PeerId replica, const Asked& asked, bool granted) {
  if (!granted && !asked.request.pre_vote) ++situations_.votes_denied;
  if (!granted) return;
  Replica& voter = At(replica);
  if (!asked.request.pre_vote) {
    voter.waits_since = std::max(voter.waits_since, asked.came);
    return;
  }
  // Between the request and its answer a leader may have stepped down, or have become silent.
  const bool leads =
      asked.leads != 0 && voter.role == ElectionRole::kLeader && voter.term == asked.leads;
  const bool follows = asked.leader_heard && voter.step - *asked.leader_heard < timeout_min_;
  if (!leads && !follows) return;
  violate_(ElectionRule::kLeaderIsKept,
           Name(replica) + " grants a pre-vote of term " + std::to_string(asked.request.term) +
               (leads ? " while it leads"
                      : ", " + Milliseconds(voter.step - *asked.leader_heard) +
                            " after a message of its leader"),
           {});
}

}  // namespace depfast

// ElectionChecker: the invariants of Raft's elections with pre-votes, a part of the checkers of
// logs that elect a leader so. It is told plain values: such logs have messages of their own.
//
// It remembers the votes, terms and messages of leaders that each replica was told, with their
// times. A replica's own decisions must follow from them. Times are those of the replica's steps.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "depfast/host/frame.h"
#include "depfast/peer.h"
#include "depfast/time.h"
#include "sim/group_view.h"
#include "testkit/history.h"

namespace depfast {

enum class ElectionRule {
  kOneLeader,              // at most one leader a term
  kOneVote,                // a replica votes once a term
  kTermsGoForward,         // a replica's term never goes back, not even by a crash
  kTermsBeginByCampaign,   // a replica adopts no term that no candidate has begun
  kCampaignHasPreVotes,    // a candidate has received granted pre-votes of its term from a majority
  kLeaderHasVotes,         // a leader has received granted votes of its term from a majority
  kLeaderIsKept,           // no replica grants a pre-vote while it knows of a live leader
  kElectionTimeoutPassed,  // no replica campaigns before its shortest election timeout has passed
};

enum class ElectionRole : std::uint8_t { kFollower = 0, kCandidate = 1, kLeader = 2 };

// A candidate's request for a vote or a pre-vote of `term`.
struct VoteRequest {
  std::uint64_t term = 0;
  bool pre_vote = false;
};

class ElectionChecker {
 public:
  // `earlier`: the steps that a report shows beside it.
  using Violate = std::function<void(ElectionRule, const std::string& what,
                                     std::vector<testkit::EarlierStep> earlier)>;

  // `timeout_min`: the shortest election timeout.
  ElectionChecker(const sim::GroupView& group, Duration timeout_min, Violate violate);

  // A vote that a replica was asked for, and what the replica knew then.
  struct Asked {
    VoteRequest request;
    Time came{0};
    std::uint64_t leads = 0;           // the term that it led; 0: none
    std::optional<Time> leader_heard;  // the latest message of its term's leader
  };

  // Situations that a test wants to have occurred.
  struct Situations {
    int pre_votes_under_a_leader = 0;  // that reached a leader, or a replica that had just heard it
    int votes_denied = 0;
  };
  const Situations& situations() const { return situations_; }

  // A replica asked for pre-votes. `waited`: since its election timeout began, at a message of its
  // leader, a granted vote, its start, its last campaign, or the end of its leadership.
  struct Campaign {
    PeerId replica;
    Duration waited;
  };
  const std::vector<Campaign>& campaigns() const { return campaigns_; }

  // --- a replica's life ---

  void OnStep(PeerId replica, Time now) { At(replica).step = now; }
  // `disk_term`: the term on its disk, of which the replica may not have told anybody.
  void OnRestart(PeerId replica, Time now, std::uint64_t disk_term);

  // --- what a replica is told ---

  Asked OnAsked(PeerId replica, const VoteRequest& request);
  void OnLeaderMessage(PeerId replica, std::uint64_t term);
  // The answer to the vote request of that call. `term`: the voter's.
  void OnVoteAnswered(PeerId replica, PeerId voter, CallId call, std::uint64_t term, bool granted);
  // The leader of the term before `term` asks for a campaign at once: the replica needs neither
  // pre-votes nor an election timeout in `term`, until it restarts.
  void OnAskedToCampaign(PeerId replica, std::uint64_t term) { At(replica).licence = term; }

  // --- what a replica says ---

  // It sends a message of its own term. `campaigns`: as a candidate, which may begin the term.
  // `promises`: more than that it has heard of the term, which a crash may make it forget.
  void OnMessage(PeerId replica, std::uint64_t term, bool campaigns = false, bool promises = true);
  void OnRole(PeerId replica, std::uint64_t term, ElectionRole role);
  // It leads `term`, by a message or a claim. Returns whether that is the term's first one.
  bool OnLeads(PeerId replica, std::uint64_t term, Time now);
  // The first leader of the term; kNobody if there is none.
  PeerId LeaderOf(std::uint64_t term) const;
  // Its vote is granted.
  void OnVote(PeerId voter, std::uint64_t term, PeerId candidate, Time now);
  // Its vote on its disk, which may be for itself: that is in no message. kNobody: none.
  void OnVoteOnDisk(PeerId voter, std::uint64_t term, PeerId candidate, Time now);
  void OnSentVoteRequest(PeerId replica, PeerId to, CallId call, const VoteRequest& request);
  void OnVoteReply(PeerId replica, const Asked& asked, bool granted);

 private:
  struct Replica {
    Time step{0};  // when its latest step began
    std::uint64_t term = 0;
    ElectionRole role = ElectionRole::kFollower;
    std::uint64_t said_term = 0;       // the highest in a message, or on its disk at a start
    std::uint64_t promised_term = 0;   // the highest that a crash must leave
    std::uint64_t told_term = 0;       // the highest that it has claimed, or was told of
    std::optional<Time> leader_heard;  // of the leader of told_term
    std::uint64_t licence = 0;         // see OnAskedToCampaign; 0: none
    Time waits_since{0};               // when its election timeout began, at the latest
    std::map<std::pair<PeerId, CallId>, VoteRequest> sent;  // by voter
    // The replicas that have granted it a vote, one bit each, by (term, is a pre-vote).
    std::map<std::pair<std::uint64_t, bool>, std::uint64_t> grants;
  };

  // A leader, or the candidate of a vote, and when it was first seen as that.
  struct Seen {
    PeerId replica = kNobody;
    Time at{0};
  };

  Replica& At(PeerId replica) { return replicas_[static_cast<std::size_t>(replica)]; }
  void Tell(Replica& replica, std::uint64_t term);
  void OnTerm(PeerId replica, std::uint64_t term, bool campaigns);
  // The number of replicas that have granted its votes of `term`, itself included.
  int Grants(const Replica& replica, std::uint64_t term, bool pre_vote) const;
  bool IsMajority(int votes) const { return votes > static_cast<int>(replicas_.size()) / 2; }
  void OnCampaign(PeerId replica);
  void CheckVotes(PeerId leader, std::uint64_t term);

  const sim::GroupView group_;
  const Duration timeout_min_;
  const Violate violate_;
  std::vector<Replica> replicas_;
  std::map<std::uint64_t, Seen> leaders_;                   // by term
  std::map<std::pair<PeerId, std::uint64_t>, Seen> votes_;  // (voter, term) to candidate
  std::uint64_t terms_begun_ = 0;  // the highest term that a candidate or a test has begun
  Situations situations_;
  std::vector<Campaign> campaigns_;
};

}  // namespace depfast

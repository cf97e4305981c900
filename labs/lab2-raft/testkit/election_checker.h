// ElectionChecker: the invariants of elections, a part of RaftChecker.
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
#include "raft_invariants.h"
#include "raft_messages.h"
#include "raft_observations.h"

namespace depfast::raft {

class ElectionChecker {
 public:
  using Violate = std::function<void(Invariant, const std::string& what)>;

  ElectionChecker(int replicas, Violate violate);

  // A vote that a replica was asked for, and what the replica knew then.
  struct Asked {
    RequestVote request;
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

  Asked OnAsked(PeerId replica, const RequestVote& request);
  void OnLeaderMessage(PeerId replica, std::uint64_t term);
  void OnVoteAnswered(PeerId replica, PeerId voter, CallId call, const RequestVoteReply& reply);

  // --- what a replica says ---

  // It names a term as its own. `campaigns`: as a candidate, which may begin the term.
  void OnTerm(PeerId replica, std::uint64_t term, bool campaigns);
  void OnRole(PeerId replica, std::uint64_t term, Role role);
  // Its first message or claim as the leader of `term`.
  void OnLeads(PeerId replica, std::uint64_t term);
  void OnSentRequestVote(PeerId replica, PeerId to, CallId call, const RequestVote& request);
  void OnVoteReply(PeerId replica, const Asked& asked, const RequestVoteReply& reply);

 private:
  struct Replica {
    Time step{0};  // when its latest step began
    std::uint64_t term = 0;
    Role role = Role::kFollower;
    std::uint64_t told_term = 0;       // the highest that it has claimed, or was told of
    std::optional<Time> leader_heard;  // of the leader of told_term
    Time waits_since{0};               // when its election timeout began, at the latest
    std::map<std::pair<PeerId, CallId>, RequestVote> sent;  // by voter
    // The replicas that have granted it a vote, one bit each, by (term, is a pre-vote).
    std::map<std::pair<std::uint64_t, bool>, std::uint64_t> grants;
  };

  Replica& At(PeerId replica) { return replicas_[static_cast<std::size_t>(replica)]; }
  void Tell(Replica& replica, std::uint64_t term);
  // The number of replicas that have granted its votes of `term`, itself included.
  int Grants(const Replica& replica, std::uint64_t term, bool pre_vote) const;
  bool IsMajority(int votes) const { return votes > static_cast<int>(replicas_.size()) / 2; }
  void OnCampaign(PeerId replica);

  const Violate violate_;
  std::vector<Replica> replicas_;
  std::uint64_t terms_begun_ = 0;  // the highest term that a candidate or a test has begun
  Situations situations_;
  std::vector<Campaign> campaigns_;
};

}  // namespace depfast::raft

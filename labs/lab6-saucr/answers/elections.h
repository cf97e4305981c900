// Elections: the term of a replica, its vote, its role and its leader. And the silence of a leader.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "replica_state.h"
#include "saucr_given_messages.h"
#include "saucr_observations.h"

namespace depfast::saucr {

struct Vote {
  PeerId voter;
  LleMap map;
};

// A message of a leader.
struct SignOfLife {
  std::uint64_t term = 0;
  PeerId leader = kNobody;
  Time at{0};
};

// The replica, as Elections needs it. No function may wait.
class ElectionUser {
 public:
  virtual ~ElectionUser() = default;
  // This replica leads the term from now on.
  virtual void OnElected(const std::vector<Vote>& votes) = 0;
  // It is a follower: its rounds, and those who wait for it, come to nothing.
  virtual void OnFollows() = 0;
};

class Elections {
 public:
  // Both must outlive this.
  Elections(ReplicaState& state, ElectionUser& user) : state_(state), user_(user) {}

  // Begins with what the disk has.
  void Recover(const HardState& disk);
  // This replica takes part from now on. `unanswered`: the latest message of a leader that came
  // before.
  void Begin(const SignOfLife& unanswered);
  // Campaigns when no leader is heard. Never returns.
  void Loop();

  std::uint64_t term() const { return term_; }
  PeerId leader() const { return leader_; }
  Role role() const { return role_; }
  bool leads() const { return role_ == Role::kLeader; }
  bool Leads(std::uint64_t term) const { return leads() && term_ == term; }

  // A message of this term has come: whatever is older is over.
  void Know(std::uint64_t term) {
    if (term > term_) Follow(term);
  }
  // This replica follows in `term`. Requires: term >= term().
  void Follow(std::uint64_t term);
  // A message of the leader of `term` has come. Requires: term >= term().
  void HearLeader(std::uint64_t term, PeerId leader);
  // Waits until our term, and our vote in it, are durable.
  void AwaitTerm();
  RequestVoteReply OnRequestVote(const RequestVote& request);

  // Since when no leader was heard; nothing for a leader, and after NoteSilence.
  std::optional<Time> SilentSince() const;
  void NoteSilence() { silence_was_told_ = true; }

 private:
  void Campaign();
  // The votes of a majority, without our own; nothing if there is none after `patience`.
  std::optional<std::vector<Vote>> AskForVotes(std::uint64_t term, bool pre_vote,
                                               Duration patience);
  bool Counts(const RequestVoteReply& reply, bool pre_vote, Time asked);
  RequestVoteReply OnPreVote(const RequestVote& request);
  void Lead(const std::vector<Vote>& votes);
  void WriteHardState() { term_sync_ = state_.journal.WriteHardState({term_, voted_for_}); }
  Time Now() const { return state_.runtime.Now(); }

  ReplicaState& state_;
  ElectionUser& user_;
  std::uint64_t term_ = 0;            // on disk, too
  PeerId voted_for_ = kNobody;        // in term_, on disk, too
  std::shared_ptr<Event> term_sync_;  // of term_ and voted_for_
  Role role_ = Role::kFollower;
  PeerId leader_ = kNobody;  // of term_, if known
  // The election timeout began: at the latest message of a leader, granted vote or own campaign, or
  // the end of our leadership.
  Time last_heard_{0};
  Time leader_heard_{0};           // the latest message of a leader, or the end of our leadership
  bool silence_was_told_ = false;  // since leader_heard_
  // When we granted the latest pre-vote to a lower number. Our campaigns that began before do not
  // go on: replicas would split their votes again and again.
  Time yielded_{0};
};

}  // namespace depfast::saucr

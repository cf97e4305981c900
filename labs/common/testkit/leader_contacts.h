// LeaderContacts: which followers have answered which leader, and when the leader had sent the
// message that they answered. It knows frames alone, no claims, and asks the log's checker for a
// frame's term.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "depfast/host/frame.h"
#include "depfast/peer.h"
#include "depfast/time.h"
#include "sim/group_view.h"
#include "sim/observer.h"

namespace depfast {

class LeaderContacts : private sim::Observer {
 public:
  // The term of a leader's message, or of the answer to one. Nothing for any other frame.
  using TermOf = std::function<std::optional<std::uint64_t>(const DecodedFrame&)>;

  // Watches `group` from now on. Requires: called before Simulator::Start; outlives it.
  LeaderContacts(const sim::GroupView& group, TermOf term_of);

  // The latest term in which the replica has sent a leader's message since it started; 0: none.
  std::uint64_t term(PeerId replica) const { return Of(replica).term; }

  // The number of followers from which the replica has received an answer of that term to a message
  // of that term that it sent in a step at `since` or later.
  std::size_t AnsweredSince(PeerId replica, Time since) const;

 private:
  struct Leader {
    std::uint64_t term = 0;
    std::map<std::pair<PeerId, CallId>, Time> unanswered;  // requests of `term`, when sent
    std::map<PeerId, Time> answered;  // by follower: when the latest answered one was sent
  };

  void OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput& output) override;
  void OnRestart(PeerId replica, Time now) override;

  void OnAnswer(Leader& leader, const sim::FrameArrival& arrival);
  void OnSent(Leader& leader, Time now, const sim::SendFrame& sent);
  const Leader& Of(PeerId replica) const { return leaders_[static_cast<std::size_t>(replica)]; }

  const TermOf term_of_;
  std::vector<Leader> leaders_;  // by replica
};

}  // namespace depfast

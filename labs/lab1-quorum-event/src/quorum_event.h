// QuorumEvent: waiting for enough votes out of several (lab 1).
//
// A coroutine that waits for one reply inherits that replica's slowness. A coroutine that waits for
// a quorum continues as soon as any quorum of replicas has answered (document 002, section 3.1.2).
// You build QuorumEvent over Event, which defines how a coroutine waits and how a wait is reported.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "depfast/event.h"
#include "depfast/wait_description.h"

namespace depfast {

class QuorumEvent : public Event {
 public:
  // Decides whether a ready child votes yes in this quorum. Called at most once for each Add: when
  // the child becomes ready, or in Add if it is ready already.
  using Accept = std::function<bool()>;

  // A quorum of `needed` out of `total` voters, numbered 0 .. total - 1. There may be any number of
  // voters.
  // Throws std::invalid_argument unless 1 <= needed <= total.
  QuorumEvent(int needed, int total);

  // A majority of `total`: the most common quorum. Throws std::invalid_argument unless total >= 1.
  static std::shared_ptr<QuorumEvent> Majority(int total);

  // The vote of one voter. A reject and a missing answer are different cases (document 002, section
  // 2.1): VoteNo is an answer that rejects, VoteLost says that no answer will come. The voter's
  // first vote stands: a duplicate or a different second vote changes nothing. A lost vote stays
  // lost, even if the answer comes later. Late votes are counted, too: after the decision and after
  // a timeout.
  // Throws std::out_of_range for a voter that does not exist.
  void VoteYes(int voter);
  void VoteNo(int voter);
  void VoteLost(int voter);

  // Makes `child` the next voter without a child (0, 1, ...), also after the decision and after a
  // timeout. A child that becomes ready votes yes if `accept` returns true, and no if `accept`
  // returns false. Without `accept` it votes yes. The vote of a child that fails is lost. A child
  // that is decided already votes at once. A child of a voter that has voted changes nothing, and
  // its `accept` is not called.
  // An event may be a child of other quorums, too, with another `accept` in each (document 002,
  // section 3.1.4). An event that is added twice is two voters: it votes as each, by the `accept`
  // of that Add. This event keeps a child alive until the child's voter has voted, and no child
  // longer than itself.
  // Throws std::out_of_range if every voter has a child, std::invalid_argument for a null child. A
  // refused child takes no voter.
  void Add(std::shared_ptr<Event> child, Accept accept = nullptr);

  // The three outcomes. At most one is true at any time.
  bool Ready() const;     // a quorum voted yes
  bool Fail() const;      // too many votes are no or lost: a quorum is impossible
  bool TimedOut() const;  // a Wait has timed out, and the event is still undecided

  // The votes so far, late ones included. Each voter counts once.
  int needed() const;
  int total() const;
  int yes() const;
  int no() const;
  int lost() const;

  bool IsReady() const override { return Ready(); }
  bool IsFailed() const override { return Fail(); }
  // needed() out of total(): it makes the wait's edges green in the slowness propagation graph. The
  // peers are those of the children, included with the children's votes (WaitDescription::Include).
  // A voter without a child adds no peer.
  WaitDescription DescribeWait() const override;
  const char* Label() const override { return "quorum"; }
  std::string Describe() const override;

 protected:
  // Does the work of Event::Wait.
  // Waits for the decision. Returns at once if there is one. A wait of zero times out like any
  // other. A timeout leaves the event usable: votes go on counting, and it can be waited for again.
  Outcome DoWait(Duration timeout) override;

  // The framework calls this for each child that you passed to Event::NotifyOnDecision, possibly
  // more than once.
  void OnChildDecided(Event& child) override;

 private:
  // Your state. Document for each member when it is valid, and its invariant with other members.
};

}  // namespace depfast

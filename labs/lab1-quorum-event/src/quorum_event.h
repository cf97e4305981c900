// QuorumEvent: waiting for enough votes out of several (lab 1).
//
// A coroutine that waits for one reply inherits that replica's slowness. One that waits for a
// quorum goes on as soon as enough replicas have answered, whichever they are (document 002,
// section 3.1.2). You build it over Event: how a coroutine waits, and what reports read of a wait.
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
  // Decides whether a child that is ready counts as a yes. Called when the child becomes ready, or
  // in Add if it is already, and once at most for each child.
  using Accept = std::function<bool()>;

  // A quorum of `needed` out of `total` voters, numbered 0 .. total - 1.
  // Throws std::invalid_argument unless 1 <= needed <= total.
  QuorumEvent(int needed, int total);

  // A majority of `total`: the most common quorum.
  static std::shared_ptr<QuorumEvent> Majority(int total);

  // The vote of one voter: an answer that agrees, an answer that rejects, or the news that no
  // answer will come (document 002, section 2.1). The first of the three stands: a duplicate, or a
  // change of mind, changes nothing. A vote is counted whenever it comes, also after the decision
  // and after a timeout. Throws std::out_of_range for a voter that does not exist.
  void VoteYes(int voter);
  void VoteNo(int voter);
  void VoteLost(int voter);

  // Makes `child` the next voter that has no child yet (0, 1, ...). When the child becomes ready it
  // votes yes if `accept` returns true, and no if `accept` returns false. Without `accept`, ready
  // is yes. When the child fails, its vote is lost. A child that is decided already votes at once.
  // Throws std::out_of_range if every voter has a child, std::invalid_argument for a null child.
  void Add(std::shared_ptr<Event> child, Accept accept = nullptr);

  // Waits for the decision. Returns at once if there is one. A timeout leaves the event usable:
  // votes go on counting, and it can be waited for again.
  Outcome Wait(Duration timeout = kForever) override;

  // The three outcomes. At most one is true at any time.
  bool Ready() const;     // a quorum said yes
  bool Fail() const;      // so many votes are no or lost that a quorum is impossible
  bool TimedOut() const;  // a Wait has timed out, and there is no decision to this day

  // The quorum's size, and the votes so far, late ones included. Each voter counts once.
  int needed() const;
  int total() const;
  int yes() const;
  int no() const;
  int lost() const;

  bool IsReady() const override { return Ready(); }
  bool IsFailed() const override { return Fail(); }
  // needed() out of total(): what makes the edges of a wait green in the slowness propagation
  // graph. The peers are those of the children, with the children's votes
  // (WaitDescription::Include). A voter without a child has no peer.
  WaitDescription DescribeWait() const override;
  const char* Label() const override { return "quorum"; }
  std::string Describe() const override;

 protected:
  // The framework calls this for a child that you asked to hear of (Event::NotifyOnDecision), maybe
  // more than once.
  void OnChildDecided(Event& child) override;

 private:
  // Your state. For each member: when it is valid, and what ties it to the others.
};

}  // namespace depfast

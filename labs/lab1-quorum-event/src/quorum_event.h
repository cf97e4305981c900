// QuorumEvent: waiting for enough votes out of several (lab 1).
//
// A coroutine that waits for one reply inherits that replica's slowness. A coroutine that waits for
// a quorum continues as soon as any quorum of replicas has answered (document 002, section 3.1.2).
// You build QuorumEvent over two classes of the framework: Event (how a coroutine waits) and
// QuorumView (the part that reports read).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "depfast/event.h"
#include "depfast/quorum_view.h"

namespace depfast {

class QuorumEvent : public Event, public QuorumView {
 public:
  // Decides whether a ready child votes yes. Called at most once for each child: when the child
  // becomes ready, or in Add if the child is ready already.
  using Accept = std::function<bool()>;

  // A quorum of `needed` out of `total` voters, numbered 0 .. total - 1.
  // Throws std::invalid_argument unless 1 <= needed <= total.
  QuorumEvent(int needed, int total);

  // A majority of `total`: the most common quorum.
  static std::shared_ptr<QuorumEvent> Majority(int total);

  // The vote of one voter. The voter's first vote stands: a duplicate or a different second vote
  // changes nothing. Late votes are counted, too: after the decision and after a timeout.
  // Throws std::out_of_range for a voter that does not exist.
  void VoteYes(int voter);
  void VoteNo(int voter);

  // Makes `child` the next voter without a child (0, 1, ...). The child votes yes when it is ready
  // and `accept` returns true. It votes no when `accept` returns false or the child fails. Without
  // `accept` a ready child votes yes. A child that is decided already votes at once.
  // Throws std::out_of_range if every voter has a child, std::invalid_argument for a null child.
  void Add(std::shared_ptr<Event> child, Accept accept = nullptr);

  // Waits for the decision. Returns at once if the event is decided. A timeout leaves the event
  // usable: later votes count, and a coroutine can wait again.
  Outcome Wait(Duration timeout = kForever) override;

  // The three outcomes. At most one is true at any time.
  bool Ready() const;     // a quorum voted yes
  bool Fail() const;      // too many voted no: a quorum is impossible
  bool TimedOut() const;  // a Wait has timed out, and the event is still undecided

  int needed() const override;
  int total() const override;
  int yes() const override;
  int no() const override;

  bool IsReady() const override { return Ready(); }
  bool IsFailed() const override { return Fail(); }
  // needed() out of total(). It makes the wait's edge green in the slowness propagation graph.
  Shape WaitShape() const override;
  const char* Label() const override { return "quorum"; }
  std::string Describe() const override;

 protected:
  // The framework calls this for each child that you passed to Event::NotifyOnDecision, possibly
  // more than once.
  void OnChildDecided(Event& child) override;

 private:
  // Your state. Document for each member when it is valid, and its invariant with other members.
};

}  // namespace depfast

// QuorumEvent: waiting for enough votes out of several (lab 1).
//
// A coroutine that waits for one reply inherits that replica's slowness. One that waits for a
// quorum goes on as soon as enough replicas have answered, whichever they are (document 002,
// section 3.1.2). You build it over two things the framework gives you: Event (how a coroutine
// waits) and QuorumView (what reports read).
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
  // Decides whether a child that is ready counts as a yes. Called when the child becomes ready, or
  // in Add if it is already, and once at most for each child.
  using Accept = std::function<bool()>;

  // A quorum of `needed` out of `total` voters, numbered 0 .. total - 1.
  // Throws std::invalid_argument unless 1 <= needed <= total.
  QuorumEvent(int needed, int total);

  // A majority of `total`: the most common quorum.
  static std::shared_ptr<QuorumEvent> Majority(int total);

  // The vote of one voter. Its first vote stands: a duplicate, or a change of mind, changes
  // nothing. A vote is counted whenever it comes, also after the decision and after a timeout.
  // Throws std::out_of_range for a voter that does not exist.
  void VoteYes(int voter);
  void VoteNo(int voter);

  // Makes `child` the next voter that has no child yet (0, 1, ...): it votes yes when it is ready
  // and `accept` returns true, no when `accept` returns false or the child fails. Without `accept`,
  // ready is yes. A child that is decided already votes at once.
  // Throws std::out_of_range if every voter has a child, std::invalid_argument for a null child.
  void Add(std::shared_ptr<Event> child, Accept accept = nullptr);

  // Waits for the decision. Returns at once if there is one. A timeout leaves the event usable:
  // votes go on counting, and it can be waited for again.
  Outcome Wait(Duration timeout = kForever) override;

  // The three outcomes. At most one is true at any time.
  bool Ready() const;     // a quorum said yes
  bool Fail() const;      // so many said no that a quorum has become impossible
  bool TimedOut() const;  // a Wait has timed out, and there is no decision to this day

  int needed() const override { return needed_; }
  int total() const override { return static_cast<int>(voters_.size()); }
  int yes() const override { return yes_; }
  int no() const override { return no_; }

  bool IsReady() const override { return Ready(); }
  bool IsFailed() const override { return Fail(); }
  Shape WaitShape() const override { return {needed(), total()}; }
  const char* Label() const override { return "quorum"; }
  std::string Describe() const override;

 protected:
  void OnChildDecided(Event& child) override;

 private:
  enum class Vote : unsigned char { kNone, kYes, kNo };

  struct Voter {
    Vote vote = Vote::kNone;
    std::shared_ptr<Event> child;  // null if this voter votes by VoteYes and VoteNo alone
    Accept accept;                 // may be empty; only with a child
  };

  Voter& VoterAt(int voter);
  void Count(Voter& voter, Vote vote);
  void CountChild(Voter& voter);

  int needed_;
  int children_ = 0;  // voters [0, children_) have a child
  int yes_ = 0;
  int no_ = 0;
  bool timed_out_ = false;  // the latest Wait to end was given up
  std::vector<Voter> voters_;
};

}  // namespace depfast

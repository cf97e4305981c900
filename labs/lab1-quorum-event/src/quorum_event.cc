#include "quorum_event.h"

namespace depfast {

// Every function below is a stub: it compiles, and does nothing. The header says what it should do.

// TODO: check the arguments, remember them.
QuorumEvent::QuorumEvent(int needed, int total) { (void)needed, (void)total; }

// TODO: how many of `total` are a majority?
std::shared_ptr<QuorumEvent> QuorumEvent::Majority(int total) {
  return std::make_shared<QuorumEvent>(0, total);
}

// TODO: count each voter once; after a change, Test() wakes those who wait if there is a decision.
void QuorumEvent::VoteYes(int voter) { (void)voter; }
void QuorumEvent::VoteNo(int voter) { (void)voter; }
void QuorumEvent::VoteLost(int voter) { (void)voter; }

// TODO: remember the child and its predicate, and ask to hear of its decision (NotifyOnDecision).
void QuorumEvent::Add(std::shared_ptr<Event> child, Accept accept) { (void)child, (void)accept; }

// TODO: find the voter that `child` is, and let it vote.
void QuorumEvent::OnChildDecided(Event& child) { (void)child; }

// TODO: Event::Wait does the waiting; remember what TimedOut needs to know.
Outcome QuorumEvent::Wait(Duration timeout) {
  (void)timeout;
  return Outcome::kTimedOut;
}

// TODO: the three outcomes, of which at most one is true.
bool QuorumEvent::Ready() const { return false; }
bool QuorumEvent::Fail() const { return false; }
bool QuorumEvent::TimedOut() const { return false; }

// TODO: what verification and reports read.
int QuorumEvent::needed() const { return 0; }
int QuorumEvent::total() const { return 0; }
int QuorumEvent::yes() const { return 0; }
int QuorumEvent::no() const { return 0; }
int QuorumEvent::lost() const { return 0; }
WaitDescription QuorumEvent::DescribeWait() const { return {}; }

// TODO: what a person who looks at a stalled replica wants to know.
std::string QuorumEvent::Describe() const { return "QuorumEvent"; }

}  // namespace depfast

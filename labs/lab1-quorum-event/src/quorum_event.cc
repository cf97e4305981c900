#include "quorum_event.h"

namespace depfast {

// Every function below is a stub: it compiles, and does nothing. The header states its contract.

// TODO: check the arguments, remember them.
QuorumEvent::QuorumEvent(int needed, int total) { (void)needed, (void)total; }

// TODO: compute the majority of `total`.
std::shared_ptr<QuorumEvent> QuorumEvent::Majority(int total) {
  return std::make_shared<QuorumEvent>(0, total);
}

// TODO: count each voter once. After a change, call Test(): it wakes the waiters of a decided
// event.
void QuorumEvent::VoteYes(int voter) { (void)voter; }
void QuorumEvent::VoteNo(int voter) { (void)voter; }
void QuorumEvent::VoteLost(int voter) { (void)voter; }

// TODO: remember the child and its predicate, and subscribe to its decision (NotifyOnDecision).
void QuorumEvent::Add(std::shared_ptr<Event> child, Accept accept) { (void)child, (void)accept; }

// TODO: find the voter of `child`, and cast its vote.
void QuorumEvent::OnChildDecided(Event& child) { (void)child; }

// TODO: Event::DoWait does the waiting; remember the state that TimedOut needs.
Outcome QuorumEvent::DoWait(Duration timeout) {
  (void)timeout;
  return Outcome::kTimedOut;
}

// TODO: the three outcomes. At most one is true.
bool QuorumEvent::Ready() const { return false; }
bool QuorumEvent::Fail() const { return false; }
bool QuorumEvent::TimedOut() const { return false; }

// TODO: the counts and the description that verification and reports read.
int QuorumEvent::needed() const { return 0; }
int QuorumEvent::total() const { return 0; }
int QuorumEvent::yes() const { return 0; }
int QuorumEvent::no() const { return 0; }
int QuorumEvent::lost() const { return 0; }
WaitDescription QuorumEvent::DescribeWait() const { return {}; }

// TODO: a description that helps a person to debug a stalled replica.
std::string QuorumEvent::Describe() const { return "QuorumEvent"; }

}  // namespace depfast

#include "quorum_event.h"

#include <stdexcept>
#include <utility>

namespace depfast {

QuorumEvent::QuorumEvent(int needed, int total) : needed_(needed) {
  if (needed < 1 || needed > total) {
    throw std::invalid_argument("a quorum needs between 1 and all of its voters");
  }
  voters_.resize(static_cast<std::size_t>(total));
}

std::shared_ptr<QuorumEvent> QuorumEvent::Majority(int total) {
  return std::make_shared<QuorumEvent>(total / 2 + 1, total);
}

void QuorumEvent::VoteYes(int voter) { Count(VoterAt(voter), Vote::kYes); }
void QuorumEvent::VoteNo(int voter) { Count(VoterAt(voter), Vote::kNo); }
void QuorumEvent::VoteLost(int voter) { Count(VoterAt(voter), Vote::kLost); }

QuorumEvent::Voter& QuorumEvent::VoterAt(int voter) {
  if (voter < 0 || voter >= total()) throw std::out_of_range("there is no such voter");
  return voters_[static_cast<std::size_t>(voter)];
}

void QuorumEvent::Count(Voter& voter, Vote vote) {
  if (voter.vote != Vote::kPending) return;  // the first vote stands
  voter.vote = vote;
  ++(vote == Vote::kYes ? yes_ : vote == Vote::kNo ? no_ : lost_);
  Test();
}

void QuorumEvent::Add(std::shared_ptr<Event> child, Accept accept) {
  if (child == nullptr) throw std::invalid_argument("a child must not be null");
  Voter& voter = VoterAt(children_);
  ++children_;
  voter.child = std::move(child);
  voter.accept = std::move(accept);
  voter.child->NotifyOnDecision(shared_from_this());
}

void QuorumEvent::OnChildDecided(Event& child) {
  for (int i = 0; i < children_; ++i) {
    Voter& voter = VoterAt(i);
    if (voter.child.get() == &child) CountChild(voter);
  }
}

void QuorumEvent::CountChild(Voter& voter) {
  if (voter.vote != Vote::kPending) return;
  Vote vote = Vote::kLost;
  if (voter.child->IsReady()) vote = !voter.accept || voter.accept() ? Vote::kYes : Vote::kNo;
  voter.accept = nullptr;  // its captures are no longer needed
  Count(voter, vote);
}

Outcome QuorumEvent::DoWait(Duration timeout) {
  const Outcome outcome = Event::DoWait(timeout);
  timed_out_ = outcome == Outcome::kTimedOut;
  return outcome;
}

bool QuorumEvent::Ready() const { return yes_ >= needed_; }
bool QuorumEvent::Fail() const { return no_ + lost_ > total() - needed_; }
bool QuorumEvent::TimedOut() const { return timed_out_ && !IsDecided(); }

WaitDescription QuorumEvent::DescribeWait() const {
  WaitDescription wait;
  wait.needed = needed_;
  wait.total = total();
  for (const Voter& voter : voters_) {
    if (voter.child != nullptr) wait.Include(voter.child->DescribeWait(), voter.vote);
  }
  return wait;
}

std::string QuorumEvent::Describe() const {
  return "QuorumEvent " + std::to_string(needed_) + " of " + std::to_string(total()) + " (" +
         std::to_string(yes_) + " yes, " + std::to_string(no_) + " no, " + std::to_string(lost_) +
         " lost)";
}

}  // namespace depfast

#include "majority.h"

#include "quorum_event.h"

namespace depfast::saucr {

std::shared_ptr<Event> MajorityWith(const std::vector<Voter>& others) {
  const int replicas = static_cast<int>(others.size()) + 1;
  const auto quorum = QuorumEvent::Majority(replicas);
  for (const Voter& each : others) quorum->Add(each.answer, each.says_yes);
  quorum->VoteYes(replicas - 1);
  return quorum;
}

}  // namespace depfast::saucr

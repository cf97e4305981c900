#include "log_group.h"

#include <string>

#include "testkit/violation.h"

namespace depfast {

LogGroup::LogGroup(testkit::Cluster& cluster, int group, const MakeChecker& make_checker)
    : cluster_(cluster),
      group_(cluster.simulator(), group),
      log_(make_checker(group_, cluster.history())),
      answers_(group_, *log_, cluster.history()) {}

LogGroup::~LogGroup() {
  for (const std::string& violation : {log_->FirstViolation(), answers_.FirstViolation()}) {
    if (!violation.empty()) ADD_FAILURE() << violation;
  }
  if (!log_->FirstViolation().empty()) testkit::RecordOtherViolation(log_->FirstViolation());
  // The log's violation comes last: it counts.
  for (const std::string& violation : {answers_.FirstViolation(), log_->FirstSafetyViolation()}) {
    if (!violation.empty()) testkit::RecordSafetyViolation(violation);
  }
}

PeerId LogGroup::FirstProposer() const {
  const std::vector<PeerId> proposers = log_->Proposers();
  return proposers.empty() ? kNobody : proposers.front();
}

PeerId LogGroup::WaitForProposer(Duration at_most) {
  const bool found = cluster_.RunUntil(
      [this] {
        const PeerId proposer = FirstProposer();
        return proposer != kNobody && log_->Serves(proposer);
      },
      at_most);
  return found ? FirstProposer() : kNobody;
}

PeerId LogGroup::FirstLaggard() {
  for (PeerId id = 0; id < group_.replicas(); ++id) {
    if (!group_.IsUp(id)) continue;
    if (log_->HasUpTo(id) < log_->CommittedUpTo()) return id;
  }
  return kNobody;
}

testing::AssertionResult LogGroup::WaitForAllApplied(Duration at_most) {
  const bool have = cluster_.RunUntil([this] { return HaveAllApplied(); }, at_most);
  return have ? testing::AssertionSuccess() : NotAllApplied(at_most);
}

testing::AssertionResult LogGroup::NotAllApplied(Duration waited) {
  const PeerId laggard = FirstLaggard();
  return testing::AssertionFailure()
         << "replica " << laggard << " has applied the log up to " << log_->AppliedUpTo(laggard)
         << " and stored it up to " << log_->StoredUpTo(laggard) << ", and no further within "
         << waited / 1ms << " ms, though it is committed up to " << log_->CommittedUpTo();
}

testing::AssertionResult LogGroup::AllInvariantsHold() const {
  if (cluster_.first_death().empty() && log_->FirstViolation().empty() &&
      answers_.FirstViolation().empty()) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "the end of this report says why";  // the destructor does
}

std::vector<PeerId> LogGroup::Others(PeerId replica) const {
  std::vector<PeerId> others;
  for (PeerId id = 0; id < group_.replicas(); ++id) {
    if (id != replica) others.push_back(id);
  }
  return others;
}

}  // namespace depfast

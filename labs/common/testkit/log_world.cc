#include "log_world.h"

#include <string>

#include "testkit/violation.h"

namespace depfast {

LogWorld::LogWorld(const testkit::ClusterOptions& options, const MakeChecker& make_checker)
    : cluster(options),
      log_(make_checker(cluster)),
      answers_(cluster.simulator(), *log_, cluster.history()) {}

LogWorld::~LogWorld() {
  if (!cluster.first_death().empty()) ADD_FAILURE() << cluster.first_death();
  for (const std::string& violation : {log_->FirstViolation(), answers_.FirstViolation()}) {
    if (!violation.empty()) ADD_FAILURE() << violation;
  }
  if (!log_->FirstViolation().empty()) testkit::RecordOtherViolation(log_->FirstViolation());
  // The log's violation comes last: it counts.
  for (const std::string& violation : {answers_.FirstViolation(), log_->FirstSafetyViolation()}) {
    if (!violation.empty()) testkit::RecordSafetyViolation(violation);
  }
}

PeerId LogWorld::FirstProposer() const {
  const std::vector<PeerId> proposers = log_->Proposers();
  return proposers.empty() ? kNobody : proposers.front();
}

PeerId LogWorld::WaitForProposer(Duration at_most) {
  const bool found = cluster.RunUntil(
      [this] {
        const PeerId proposer = FirstProposer();
        return proposer != kNobody && log_->Serves(proposer);
      },
      at_most);
  return found ? FirstProposer() : kNobody;
}

PeerId LogWorld::FirstLaggard() {
  for (PeerId id = 0; id < cluster.replicas(); ++id) {
    if (!cluster.simulator().IsUp(id)) continue;
    if (log_->AppliedUpTo(id) < log_->CommittedUpTo()) return id;
  }
  return kNobody;
}

testing::AssertionResult LogWorld::WaitForAllApplied(Duration at_most) {
  const bool have = cluster.RunUntil([this] { return HaveAllApplied(); }, at_most);
  return have ? testing::AssertionSuccess() : NotAllApplied(at_most);
}

testing::AssertionResult LogWorld::NotAllApplied(Duration waited) {
  const PeerId laggard = FirstLaggard();
  return testing::AssertionFailure()
         << "replica " << laggard << " has applied the log up to " << log_->AppliedUpTo(laggard)
         << " and no further within " << waited / 1ms << " ms, though it is committed up to "
         << log_->CommittedUpTo();
}

testing::AssertionResult LogWorld::AllInvariantsHold() const {
  if (cluster.first_death().empty() && log_->FirstViolation().empty() &&
      answers_.FirstViolation().empty()) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "the end of this report says why";  // the destructor does
}

std::vector<PeerId> LogWorld::Others(PeerId replica) const {
  std::vector<PeerId> others;
  for (PeerId id = 0; id < cluster.replicas(); ++id) {
    if (id != replica) others.push_back(id);
  }
  return others;
}

}  // namespace depfast

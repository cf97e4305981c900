// AnswerChecker: checks that clients are told the truth. This is the part that all replicated logs
// share: which request asked for which command, and which answer answers it.
//
// "Committed" is a promise (ReplicatedLog::Submit). The promise must be true when the answer leaves
// the replica: the replica has applied the command, and a majority of disks holds it. The checker
// of the log judges that, from frames and disks (LogChecker::WhyNotCommitted).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "log_checker.h"
#include "sim/group_view.h"
#include "testkit/history.h"

namespace depfast {

class AnswerChecker : private sim::Observer {
 public:
  // Watches `group` from now on, and writes the first untrue answer into `history`. Requires:
  // `log` has watched the simulator for longer, so that it knows a step before this does; called
  // before Simulator::Start. All outlive the checker.
  AnswerChecker(const sim::GroupView& group, const LogChecker& log, testkit::History& history);
  AnswerChecker(const AnswerChecker&) = delete;
  AnswerChecker& operator=(const AnswerChecker&) = delete;

  // The first "committed" that was not true, as a sentence; empty if all were true.
  const std::string& FirstViolation() const { return first_violation_; }

 private:
  // By client and call.
  using Requests = std::map<std::pair<PeerId, CallId>, CommandDigest>;

  void OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput& output) override;
  void OnOutputsLeave(PeerId replica, Time now, const std::vector<sim::Output>& outputs) override;
  void OnRestart(PeerId replica, Time now) override;

  void OnRequest(PeerId replica, const sim::FrameArrival& arrival);
  void OnAnswer(PeerId replica, Time now, const sim::SendFrame& sent);
  void Violate(PeerId replica, Time now, const std::string& why);

  const LogChecker& log_;
  testkit::History& history_;
  std::vector<Requests> requests_;  // by replica: received since it last started
  std::string first_violation_;
};

}  // namespace depfast

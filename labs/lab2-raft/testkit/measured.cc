// The measured subject: a Raft, and clients that submit commands to its leader.
#include <memory>

#include "raft_checker.h"
#include "subject.h"

namespace depfast {
namespace {

Subject MakeRaftSubject(sim::Simulator& simulator, testkit::History& history,
                        Duration answer_timeout) {
  return SubmitSubject(std::make_unique<raft::RaftChecker>(simulator, &history), simulator,
                       {.answer_timeout = answer_timeout});
}

}  // namespace

std::map<std::string, MakeSubject> MeasuredSubjects() { return {{"", MakeRaftSubject}}; }

}  // namespace depfast

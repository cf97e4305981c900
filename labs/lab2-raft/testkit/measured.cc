// The measured subject: a Raft, and clients that submit commands to its leader.
#include <memory>

#include "raft_checker.h"
#include "subject.h"

namespace depfast {
namespace {

Subject MakeRaftSubject(sim::Simulator& simulator, testkit::History& history,
                        const ClientLoad& load) {
  return SubmitSubject(std::make_unique<raft::RaftChecker>(simulator, &history), simulator, load);
}

}  // namespace

std::map<std::string, MakeSubject> MeasuredSubjects() { return {{"", MakeRaftSubject}}; }

}  // namespace depfast

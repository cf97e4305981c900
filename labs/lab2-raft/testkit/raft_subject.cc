#include "raft_subject.h"

#include <memory>

#include "raft_checker.h"

namespace depfast::raft {

Subject MakeRaftSubject(sim::Simulator& simulator, testkit::History& history,
                        Duration answer_timeout) {
  return SubmitSubject(std::make_unique<RaftChecker>(simulator, &history), simulator,
                       {.answer_timeout = answer_timeout});
}

}  // namespace depfast::raft

// Lab 3's tests run the store on lab 2's Raft.
#include <memory>

#include "log_world.h"
#include "raft_checker.h"

namespace depfast {

std::unique_ptr<LogChecker> MakeLogChecker(const sim::GroupView& group, testkit::History& history) {
  return std::make_unique<raft::RaftChecker>(group, &history, raft::RaftChecker::Machine::kOther);
}

}  // namespace depfast

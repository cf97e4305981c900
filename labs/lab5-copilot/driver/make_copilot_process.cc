// The replicated log of a process is the student's Copilot. Its log is on disk, or in memory as
// published: the environment says which.
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include "copilot.h"
#include "replicated_log.h"

namespace depfast {
namespace {

// COPILOT_LOG: "on-disk", which is meant without it, or "in-memory". Throws std::runtime_error, in
// one line, for another word.
copilot::Durability Asked() {
  const char* const text = std::getenv("COPILOT_LOG");
  const std::string word = text == nullptr ? "on-disk" : text;
  if (word == "on-disk") return copilot::Durability::kOnDisk;
  if (word == "in-memory") return copilot::Durability::kInMemory;
  throw std::runtime_error("COPILOT_LOG is '" + word + "', and neither on-disk nor in-memory");
}

}  // namespace

std::unique_ptr<ReplicatedLog> MakeReplicatedLog(Runtime& runtime, StateMachine& machine) {
  return std::make_unique<copilot::Copilot>(runtime, machine, Asked());
}

}  // namespace depfast

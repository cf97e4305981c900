#include "subjects.h"

#include <algorithm>
#include <stdexcept>

#include "copilot_subject.h"
#include "kv_load.h"
#include "kv_subject.h"
#include "raft_subject.h"

namespace depfast::measure {

std::vector<std::string> SubjectNames() { return {"lab2", "lab3", "lab4", "lab5"}; }

MakeSubject SubjectOf(const std::string& lab, const std::string& mix) {
  const bool has_store = lab == "lab3" || lab == "lab4";
  const auto mixes = has_store ? kv::MixNames() : std::vector<std::string>{""};
  if (std::find(mixes.begin(), mixes.end(), mix) == mixes.end()) {
    throw std::invalid_argument("--mix: " + lab + " has no load '" + mix + "'");
  }
  if (has_store) return kv::KvSubject(mix);
  return lab == "lab5" ? copilot::MakeCopilotSubject : raft::MakeRaftSubject;
}

}  // namespace depfast::measure

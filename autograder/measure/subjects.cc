#include "subjects.h"

#include <algorithm>
#include <stdexcept>

#include "kv_load.h"
#include "kv_subject.h"
#include "raft_subject.h"

namespace depfast::measure {

std::vector<std::string> SubjectNames() { return {"lab2", "lab3"}; }

MakeSubject SubjectOf(const std::string& lab, const std::string& mix) {
  const auto mixes = lab == "lab3" ? kv::MixNames() : std::vector<std::string>{""};
  if (std::find(mixes.begin(), mixes.end(), mix) == mixes.end()) {
    throw std::invalid_argument("--mix: " + lab + " has no load '" + mix + "'");
  }
  return lab == "lab3" ? kv::KvSubject(mix) : raft::MakeRaftSubject;
}

}  // namespace depfast::measure

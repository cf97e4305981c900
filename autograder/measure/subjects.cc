#include "subjects.h"

#include <algorithm>
#include <stdexcept>

#include "kv_load.h"
#include "kv_subject.h"
#include "raft_subject.h"

namespace depfast::measure {

std::vector<std::string> SubjectNames() { return {"lab2", "lab3", "lab4"}; }

MakeSubject SubjectOf(const std::string& lab, const std::string& mix) {
  const bool has_store = lab != "lab2";
  const auto mixes = has_store ? kv::MixNames() : std::vector<std::string>{""};
  if (std::find(mixes.begin(), mixes.end(), mix) == mixes.end()) {
    throw std::invalid_argument("--mix: " + lab + " has no load '" + mix + "'");
  }
  return has_store ? kv::KvSubject(mix) : raft::MakeRaftSubject;
}

}  // namespace depfast::measure

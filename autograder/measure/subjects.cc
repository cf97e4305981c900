#include "subjects.h"

#include <map>

#include "raft_subject.h"

namespace depfast::measure {
namespace {

// One line for each lab that is measured.
const std::map<std::string, MakeSubject>& Subjects() {
  static const std::map<std::string, MakeSubject> kSubjects = {
      {"lab2", raft::MakeRaftSubject},
  };
  return kSubjects;
}

}  // namespace

std::vector<std::string> SubjectNames() {
  std::vector<std::string> names;
  for (const auto& [lab, make] : Subjects()) names.push_back(lab);
  return names;
}

MakeSubject SubjectOf(const std::string& lab) { return Subjects().at(lab); }

}  // namespace depfast::measure

// The measured subject of these tests, under two names.
#include "subject.h"
#include "two_proposer_checker.h"

namespace depfast {

std::map<std::string, MakeSubject> MeasuredSubjects() {
  return {{"set", MakeTwoProposerSubject}, {"get", MakeTwoProposerSubject}};
}

}  // namespace depfast

// The measured subjects: the store under each mix of commands.
#include "kv_load.h"
#include "kv_subject.h"
#include "subject.h"

namespace depfast {

std::map<std::string, MakeSubject> MeasuredSubjects() {
  std::map<std::string, MakeSubject> subjects;
  for (const auto& [mix, reads_percent] : kv::Mixes()) subjects[mix] = kv::KvSubject(reads_percent);
  return subjects;
}

}  // namespace depfast

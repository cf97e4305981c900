// The measured subjects: the store under each mix of commands.
#include "kv_load.h"
#include "kv_subject.h"
#include "subject.h"

namespace depfast {

std::map<std::string, MakeSubject> MeasuredSubjects() {
  std::map<std::string, MakeSubject> subjects;
  for (const std::string& mix : kv::MixNames()) subjects[mix] = kv::KvSubject(mix);
  return subjects;
}

}  // namespace depfast

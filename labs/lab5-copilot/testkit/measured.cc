// The measured subject: a Copilot, and clients that submit each command to both pilots.
#include <memory>

#include "copilot_checker.h"
#include "subject.h"

namespace depfast {
namespace {

Subject MakeCopilotSubject(sim::Simulator& simulator, testkit::History& history,
                           const ClientLoad& load) {
  return SubmitSubject(std::make_unique<copilot::CopilotChecker>(simulator, &history), simulator,
                       load, 2);
}

}  // namespace

std::map<std::string, MakeSubject> MeasuredSubjects() { return {{"", MakeCopilotSubject}}; }

}  // namespace depfast

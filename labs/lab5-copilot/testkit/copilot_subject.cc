#include "copilot_subject.h"

#include <memory>

#include "copilot_checker.h"

namespace depfast::copilot {

Subject MakeCopilotSubject(sim::Simulator& simulator, testkit::History& history,
                           Duration answer_timeout) {
  return SubmitSubject(std::make_unique<CopilotChecker>(simulator, &history), simulator,
                       {.answer_timeout = answer_timeout, .targets = 2});
}

}  // namespace depfast::copilot

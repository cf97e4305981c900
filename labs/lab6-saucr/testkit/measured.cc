// The measured subject: a SAUCR, and clients that submit commands to its leader.
#include <memory>

#include "saucr_checker.h"
#include "subject.h"

namespace depfast {
namespace {

Subject MakeSaucrSubject(sim::Simulator& simulator, testkit::History& history,
                         Duration answer_timeout) {
  return SubmitSubject(std::make_unique<saucr::SaucrChecker>(simulator, &history), simulator,
                       {.answer_timeout = answer_timeout});
}

}  // namespace

std::map<std::string, MakeSubject> MeasuredSubjects() { return {{"", MakeSaucrSubject}}; }

}  // namespace depfast

// The measured subject: a SAUCR, and clients that submit commands to its leader.
#include <memory>

#include "saucr_checker.h"
#include "subject.h"

namespace depfast {
namespace {

Subject MakeSaucrSubject(sim::Simulator& simulator, testkit::History& history,
                         const ClientLoad& load) {
  return SubmitSubject(std::make_unique<saucr::SaucrChecker>(simulator, &history), simulator, load);
}

}  // namespace

std::map<std::string, MakeSubject> MeasuredSubjects() { return {{"", MakeSaucrSubject}}; }

}  // namespace depfast

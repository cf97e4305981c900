// The subjects that can be measured, by lab.
#pragma once

#include <string>
#include <vector>

#include "subject.h"

namespace depfast::measure {

std::vector<std::string> SubjectNames();

// `mix`: of the commands of the load; empty if the lab has one load. Throws std::invalid_argument,
// in one line, if the lab has no such mix. Requires: `lab` is one of SubjectNames().
MakeSubject SubjectOf(const std::string& lab, const std::string& mix);

}  // namespace depfast::measure

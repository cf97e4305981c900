// The subjects that can be measured, by lab.
#pragma once

#include <string>
#include <vector>

#include "subject.h"

namespace depfast::measure {

std::vector<std::string> SubjectNames();

// Requires: `lab` is one of SubjectNames().
MakeSubject SubjectOf(const std::string& lab);

}  // namespace depfast::measure

// MajorityWith: a wait for a majority, by your QuorumEvent (lab 1). Given, not submitted.
//
// The given half of a replica is compiled without your classes. It asks for its majorities here.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "depfast/event.h"

namespace depfast::saucr {

// Another replica's answer. `says_yes` is called once, when it has come.
struct Voter {
  std::shared_ptr<Event> answer;
  std::function<bool()> says_yes;
};

// Ready once a majority says yes: this replica does, and each of the others by its answer. Failed
// once too few can.
std::shared_ptr<Event> MajorityWith(const std::vector<Voter>& others);

}  // namespace depfast::saucr

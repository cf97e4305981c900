// Small scopes: every script of a few operations on a small quorum, each with the expectations of
// the model. Most mistakes show in some short script. Nobody has to think of that script here.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "depfast/time.h"
#include "quorum_script.h"

namespace depfast::lab1 {

// One operation of a script happens at each millisecond. A wait of kShort ends between two
// operations, a wait of kLong after the script.
inline constexpr Duration kShort = 1500us;
inline constexpr Duration kLong = 1s;

// The scripts of one scope. An operation is a vote of any voter, an Add of any promise with any of
// the accepts, the decision of a promise, or a wait. It happens also where it must have no effect.
struct Scope {
  int total = 1;  // voters; every `needed` from 1 to this is tried
  int steps = 1;  // operations of the longest scripts
  // The promises that may become children. Scripts that differ only in their names count as one.
  int promises = 0;
  std::vector<Accept> accepts = {Accept::kNone, Accept::kTrue, Accept::kFalse};
  std::vector<Duration> waits = {};  // the timeouts of waits
};

// Runs the scripts of the scope, short ones first. Fails with the first script that fails: no
// shorter script of the scope does.
testing::AssertionResult EveryScriptPasses(const Scope& scope);

}  // namespace depfast::lab1

// A judgement of a test or checker, as data for `kit replay`: a replica, a time, and the rule.
#pragma once

#include <string>

#include "depfast/peer.h"
#include "depfast/time.h"

namespace depfast::testkit {

struct Judged {
  std::string rule;  // in a few words: "snapshots hold everything"
  PeerId replica = kNobody;
  // When the replica's answer came to the test, or when it restarted; now for a leadership that it
  // has lost. Without a replica: the slowest answer since then is judged.
  Time at{0};
};

// Adds it to the recordings of the clusters that live; nothing without one. Requires: the test
// fails for this, and has reported no failure since. A violation in the history needs no call: its
// step is the one that observers hear of when it is added.
void RecordJudged(const Judged& judged);

}  // namespace depfast::testkit

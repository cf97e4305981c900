// The grace of a leader's rounds. Given, not submitted: tests rely on it.
#pragma once

#include "depfast/time.h"

namespace depfast::raft {

// From the quorum of a round on, the leader waits so long for the answers that are still missing.
// An answer within the grace counts like any other. Its follower keeps up: it is sent no entry a
// second time. After the grace the leader holds nothing of the round for a follower that has not
// answered.
inline constexpr Duration kRoundGrace = 100ms;

}  // namespace depfast::raft

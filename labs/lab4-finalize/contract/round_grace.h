// The grace of a leader's rounds. Given, not submitted: tests rely on it.
#pragma once

#include "depfast/time.h"

namespace depfast::raft {

// After the quorum of a round the leader waits this long for the missing answers.
// An answer within the grace counts like any other. Its follower keeps up: it is sent no entry a
// second time. After the grace the leader holds nothing of the round for a follower that has not
// answered.
inline constexpr Duration kRoundGrace = 100ms;

}  // namespace depfast::raft

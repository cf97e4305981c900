// The unfinished work of a replica, by the probe of that name (depfast/verify/unfinished_work.h).
#pragma once

#include <cstdint>

#include "depfast/host/frame.h"
#include "depfast/peer.h"
#include "depfast/time.h"
#include "sim/simulator.h"

namespace depfast {

// The coroutines of a replica that have not ended. Of a replica that is down, or whose report
// cannot be read, there are none, and the test has failed. Requires, as does the next one: the
// replica has made a step, and its cluster has the probe UnfinishedWork::kName.
std::uint64_t UnfinishedCoroutines(sim::Simulator& simulator, PeerId replica);

// The calls of a replica to one peer that are outstanding, of all methods.
std::uint64_t OutstandingCallsTo(sim::Simulator& simulator, PeerId replica, PeerId peer);

// Those of one method, to all peers.
std::uint64_t OutstandingCallsOf(sim::Simulator& simulator, PeerId replica, MethodId method);

}  // namespace depfast

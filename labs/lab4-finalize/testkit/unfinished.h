// The unfinished work of a replica, by the probe of that name (depfast/verify/unfinished_work.h).
#pragma once

#include <cstdint>
#include <string>

#include "depfast/peer.h"
#include "depfast/time.h"
#include "sim/simulator.h"

namespace depfast::lab4 {

// The coroutines of a replica that have not ended. Of a replica that is down, or whose report
// cannot be read, there are none, and the test has failed. Requires, as does the next one: the
// replica has made a step, and its cluster has the probe UnfinishedWork::kName.
std::uint64_t UnfinishedCoroutines(sim::Simulator& simulator, PeerId replica);

// The calls of one kind of request, by its kName, that are outstanding: to one peer, or to all if
// `peer` is kNobody.
std::uint64_t OutstandingCalls(sim::Simulator& simulator, PeerId replica, const std::string& kind,
                               PeerId peer = kNobody);

}  // namespace depfast::lab4

// Finalize: the orderly end of a fan-out (documents 000, section 4.3.1, and 002, section 3.1.2).
//
// A quorum leaves calls behind whose answers nobody waits for. If they are given up at once, a peer
// that is only a little slow looks like a dead one. If they are never given up, a very slow peer
// fills the caller's memory. Finalize does neither: it waits for a grace, off the caller's path.
#pragma once

#include <memory>

#include "depfast/broadcast.h"
#include "depfast/event.h"
#include "depfast/time.h"
#include "quorum_event.h"

namespace depfast {

// Ends the fan-out `calls`, whose answers vote in `quorum`. Never waits.
//
// The grace begins when `quorum` is decided: ready, or failed. It begins now if that is already so,
// or if a Wait on the quorum has timed out. A Wait that times out later does not begin it: if your
// Wait has a timeout, call Finalize after it. Until the grace is over, answers count as always.
// Then the calls that are left, and only these, are released (BroadcastCalls::Release). Each call
// has the whole grace, whatever becomes of the others.
//
// The event is ready once every call is decided: answered, failed or released. Then nothing of the
// fan-out is left. It does not fail. The caller need not keep it, nor `calls` or `quorum`.
//
// Requires: called from a coroutine; quorum is not null; grace >= 0.
std::shared_ptr<Event> Finalize(std::shared_ptr<QuorumEvent> quorum, BroadcastCalls calls,
                                Duration grace);

}  // namespace depfast
